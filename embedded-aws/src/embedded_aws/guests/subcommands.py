"""The commands `embedded-aws guests`."""

import typer

from embedded_aws.guests.root_folder import default_roots

app = typer.Typer(help="Guests: EC2 instances that really boot.")


@app.command("prepare")
def prepare_guests() -> None:
    """Create the root file systems that guests boot, unless they are up to date."""
    # Importing it reads the whole recipe.
    from embedded_aws.guests.prepare import prepare

    roots = default_roots()
    new = prepare(roots, typer.echo)
    typer.echo(f"the guests' roots are {'ready' if new else 'ready already'} in {roots}")

"""The commands `embedded-aws kubernetes`."""

from typing import Annotated

import typer

from embedded_aws.kubernetes.cache import built
from embedded_aws.kubernetes.modules import DEFAULT_KUBERNETES

app = typer.Typer(help="Kubernetes: a real control plane.")


@app.callback()
def _group() -> None:
    """Keep `prepare` a command of its own: of one command alone, Typer leaves out the name."""


@app.command("prepare")
def prepare_kubernetes(
    kubernetes: Annotated[
        str, typer.Option("--kubernetes", help="Minor version.")
    ] = DEFAULT_KUBERNETES,
) -> None:
    """Build etcd, the API server, the scheduler, the controllers and JobSet, unless they are."""
    from embedded_aws.kubernetes.prepare import prepare

    new = prepare(kubernetes, typer.echo)
    where = built(kubernetes)
    typer.echo(f"Kubernetes {kubernetes} is {'ready' if new else 'ready already'} in {where}")

"""`trainshed upgrade`: review what another version of trainshed would change in a project."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from trainshed.cli.output import say
from trainshed.cli.review_report import FailOnOption, FormatOption, OutputOption, Report, reviewing
from trainshed.files import read_text
from trainshed.review.redaction import redacted
from trainshed.review.reviewing import review_upgrade
from trainshed.upgrade.environment import find_version, install
from trainshed.upgrade.steps import REQUIREMENTS, upgrade_steps

app = typer.Typer(add_completion=False)

# Not part of the project: its .gitignore names build/.
_UPGRADED = Path("build/upgrade/requirements.txt")


@app.command()
def upgrade(
    to: Annotated[
        str | None,
        typer.Option(
            help="A wheel of trainshed, a folder of wheels, or a version that pip's index has; "
            "trainshed is not on PyPI.",
            metavar="VERSION",
        ),
    ] = None,
    form: FormatOption = None,
    outputs: OutputOption = None,
    fail_on: FailOnOption = "data-loss",
) -> None:
    """Review what another version of trainshed would change in the templates of this project.

    The report is that of trainshed review, on the files here as the installed version and the other
    one synthesise them. The other is installed into a temporary environment; it needs no AWS
    account, and writes nothing in the project but build/upgrade/requirements.txt. At the end come
    the commands that do the upgrade.

    Exits with 1 when a threshold of --fail-on is met or the app does not synthesise with one of the
    versions, and with 2 when an option or a cluster file is wrong.
    """
    report = Report(form=form, outputs=outputs or (), fail_on=fail_on)
    source = find_version(to)
    text = read_text(REQUIREMENTS) if REQUIREMENTS.is_file() else ""
    with TemporaryDirectory(prefix="trainshed-upgrade-") as name, reviewing() as step:
        folder = Path(name).resolve() / "environment"
        installed = cache(lambda: install(source, folder, text, step))
        found = redacted(review_upgrade(Path(), installed, step))
        other = installed()
    met = report.write(found)
    _UPGRADED.parent.mkdir(parents=True, exist_ok=True)
    _UPGRADED.write_text(other.requirements, encoding="utf-8")
    say(f"to use trainshed {other.version}:", err=True)
    for command in upgrade_steps(other, source, _UPGRADED):
        say(f"  {command}", err=True)
    raise typer.Exit(met)

"""`trainshed upgrade`: show what another version of trainshed would change in a project."""

import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from trainshed import __version__
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, print_records, say
from trainshed.cli.progress import progress
from trainshed.files import read_text
from trainshed.synthesis import read_app, synthesise
from trainshed.template_changes import Effect, TemplateChange, template_changes
from trainshed.upgrade.environment import find_version, install
from trainshed.upgrade.steps import REQUIREMENTS, upgrade_steps

app = typer.Typer(add_completion=False)

# Not part of the project: its .gitignore names build/.
_UPGRADED = Path("build/upgrade/requirements.txt")
_DATA = {
    Effect.REPLACED: "is replaced by a new, empty one",
    Effect.MAY_BE_REPLACED: "may be replaced by a new, empty one",
    Effect.REMOVED: "is removed from its stack",
}


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
    as_json: JsonOption = False,
) -> None:
    """Show what another version of trainshed would change in the templates of this project.

    It synthesises the app with the installed version and with the other one, which it installs into
    a temporary environment; it needs no AWS account, and writes nothing in the project but
    build/upgrade/requirements.txt. It ends with the commands that do the upgrade, and with exit
    code 1 when a resource that holds data would be replaced or removed.
    """
    cdk_app, source = read_app(Path()), find_version(to)
    text = read_text(REQUIREMENTS) if REQUIREMENTS.is_file() else ""
    with TemporaryDirectory(prefix="trainshed-upgrade-") as name, progress() as step:
        folder = Path(name).resolve()
        step(f"synthesising with trainshed {__version__}")
        before = synthesise(cdk_app, Path(sys.executable), folder / "before", __version__)
        other = install(source, folder / "environment", text, step)
        step(f"synthesising with trainshed {other.version}")
        after = synthesise(cdk_app, other.python, folder / "after", other.version)
    changes = template_changes(before, after)
    _UPGRADED.parent.mkdir(parents=True, exist_ok=True)
    _UPGRADED.write_text(other.requirements, encoding="utf-8")
    records = [_record(change) for change in changes]
    if as_json:
        print_json({"from": __version__, "to": other.version, "changes": records})
    elif changes:
        for change in changes:
            if change.data_at_risk:
                say(_warning(change))
        print_records(
            records,
            columns=("stack", "change", "type", "name", "properties"),
            headings={"name": "resource", "properties": "because of"},
        )
    else:
        say(f"trainshed {other.version} changes no template of this project")
    say(f"to use trainshed {other.version}:", err=True)
    for command in upgrade_steps(other, source, _UPGRADED):
        say(f"  {command}", err=True)
    raise typer.Exit(any(change.data_at_risk for change in changes))


def _record(change: TemplateChange) -> Mapping[str, object]:
    return {
        "stack": change.stack,
        "change": str(change.effect),
        "type": change.resource_type,
        "name": change.name,
        "properties": change.properties,
        "holds_data": change.holds_data,
    }


def _warning(change: TemplateChange) -> str:
    what = f"DATA: {change.stack}: {change.resource_type} {change.name} {_DATA[change.effect]}"
    because = f" because of {', '.join(change.properties)}" if change.properties else ""
    return f"{what}{because}"

"""`trainshed ami pins`: every pinned version, and which are behind a list of newest ones."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from trainshed.app.sources import packer_folder, shipped
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_records, say
from trainshed.errors import TrainshedError
from trainshed.files import read_text
from trainshed.pins.outdated import outdated, pinned_versions
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import write_recipes


def pins_command(
    against: Annotated[
        Path | None,
        typer.Option(
            help="JSON file with the newest version by name of a pin: show those behind it only.",
            metavar="FILE",
        ),
    ] = None,
    pins: Annotated[
        Path | None,
        typer.Option(help="The pins.", show_default="packer/pins.json", metavar="FILE"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the pinned versions; exit with 1 when --against finds some behind.

    AMIs and container images are made of them. The pins are those of packer/ of this directory, or
    else those that trainshed ships. Names that the list of newest versions lacks are not judged.
    """
    known = read_pins(pins or packer_folder() / "pins.json")
    if against is None:
        records = [{"pin": name, "version": text} for name, text in pinned_versions(known).items()]
        print_records(records, columns=("pin", "version"), as_json=as_json)
        return
    behind = [asdict(pin) for pin in outdated(known, _newest(against))]
    print_records(behind, columns=("pin", "pinned", "newest"), as_json=as_json)
    if behind:
        raise typer.Exit(1)


def recipes_command(
    template: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the Packer template.", show_default="packer/", metavar="FOLDER"
        ),
    ] = None,
) -> None:
    """Write recipes/ of the Packer template, what each AMI consists of, from its pins.json."""
    folder = template or packer_folder()
    if template is None and folder == shipped("packer"):
        raise TrainshedError(
            "there is no packer/pins.json here, and trainshed's own packer/ is not to be changed; "
            "trainshed init --with-packer in an empty folder makes a packer/ to copy"
        )
    write_recipes(folder, read_pins(folder / "pins.json"))
    say(f"written: {folder / 'recipes'}")


def _newest(path: Path) -> dict[str, str]:
    try:
        newest = json.loads(read_text(path))
    except ValueError as error:
        raise TrainshedError(f"{path} is not JSON: {error}") from error
    if not isinstance(newest, dict) or not all(isinstance(text, str) for text in newest.values()):
        raise TrainshedError(
            f'{path} is not a JSON object of texts, for instance {{"efa-installer": "1.49.0"}}'
        )
    return newest

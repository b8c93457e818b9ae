"""`trainshed catalogue`: what AWS says about instance types, and how to ask it again."""

import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from trainshed import catalogue
from trainshed.aws import Region
from trainshed.catalogue.card import TypeCard, type_card
from trainshed.catalogue.sync import DATA_FOLDER, enabled_regions, synchronise
from trainshed.cli.options import JsonOption, region_option
from trainshed.cli.output import print_facts, print_json, print_records, say
from trainshed.errors import TrainshedError

app = typer.Typer(add_completion=False)


@app.command(name="list")
def list_types(as_json: JsonOption = False) -> None:
    """List every instance type of the catalogue."""
    records = [_summary(name) for name in catalogue.all_types()]
    print_records(
        records,
        columns=("type", "accelerators", "efa", "network_gbps", "regions", "status"),
        headings={"efa": "EFA", "network_gbps": "Gbps"},
        as_json=as_json,
    )


def _summary(name: str) -> dict[str, Any]:
    found = catalogue.lookup(name)
    return {
        "type": name,
        "accelerators": f"{found.accelerator.count} x {found.accelerator.name}",
        "efa": found.efa_interfaces_max,
        "network_gbps": f"{found.network_gbps:g}",
        "regions": len(catalogue.regions_offering(name)),
        "status": found.lifecycle.status.value,
    }


@app.command()
def show(
    instance_type: Annotated[
        str, typer.Argument(metavar="TYPE", help="EC2 instance type, for instance trn1.32xlarge.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Show all that the catalogue knows of an instance type."""
    card = type_card(instance_type)
    if as_json:
        print_json(asdict(card))
        return
    print_facts(card.facts, heading=card.instance.name, values="what AWS says")
    print_records(
        [{"region": region, "zones": zones} for region, zones in card.zones.items()],
        columns=("region", "zones"),
        headings={"zones": "zone IDs"},
        title="Last known zones" if card.instance.withdrawn else "Zones",
    )
    _print_corrections(card)


def _print_corrections(card: TypeCard) -> None:
    for entry in card.corrections:
        said = "nothing" if entry.reported is None else entry.reported
        say(f"corrected: accelerator {entry.field} is {entry.value}; the EC2 API says {said}")


@app.command()
def sync(
    region: Annotated[
        list[str] | None,
        region_option(
            "Region to ask; give it again for more.",
            "those of the catalogue that the account has enabled",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the snapshot to refresh.",
            show_default="the catalogue's own",
            metavar="FOLDER",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the EC2 API of a live account again, and refresh the snapshot.

    Needs ec2:DescribeInstanceTypes, ec2:DescribeInstanceTypeOfferings and
    ec2:DescribeAvailabilityZones, and ec2:DescribeRegions without --region. Nothing is written
    before every region has answered.
    """
    today = datetime.now(UTC).date()
    folder = output or DATA_FOLDER
    _check(folder)
    regions = tuple(dict.fromkeys(region or ())) or _enabled(enabled_regions())
    change = synchronise(
        regions=map(Region, regions),
        today=today,
        folder=folder,
        source=f"DescribeInstanceTypes and DescribeInstanceTypeOfferings on {today}",
        progress=lambda name: say(f"asking {name}", err=True),
    )
    if as_json:
        print_json(asdict(change) | {"regions": regions, "folder": folder})
        return
    for verb, names in asdict(change).items():
        say(f"{verb}: {', '.join(names) or 'none'}")
    say(f"{folder} has {', '.join(regions)} as of {today}")


def _check(folder: Path) -> None:
    if not folder.is_dir():
        raise TrainshedError(f"{folder} is not a folder; make it, or give another --output")
    if not os.access(folder, os.W_OK):
        raise TrainshedError(f"{folder} cannot be written; give another folder with --output")


def _enabled(enabled: tuple[str, ...]) -> tuple[str, ...]:
    known = catalogue.all_regions()
    for name in known:
        if name not in enabled:
            say(f"{name} is not enabled in this account: it stays as it is", err=True)
    return tuple(name for name in known if name in enabled)

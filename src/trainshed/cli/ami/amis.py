"""`trainshed ami list|test|prune`: the AMIs of this account."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from trainshed.ami.listing import listing
from trainshed.ami.pruning import Verdict, judge, remove
from trainshed.ami.publishing import await_ami
from trainshed.ami.trial import TrialPlace, try_ami
from trainshed.aws import AwsRefusal, Region, regions
from trainshed.cli.ami.options import (
    TRIAL_INSTANCE_TYPE,
    TRIAL_MINUTES,
    InstanceTypeOption,
    RegionsOption,
    SubnetOption,
)
from trainshed.cli.ami.selftest import print_selftest
from trainshed.cli.options import JsonOption, region_option
from trainshed.cli.output import print_json, print_records, say
from trainshed.cli.progress import progress
from trainshed.errors import TrainshedError

_LISTED = (
    *("image_id", "region", "cell", "base", "build", "commit", "state"),
    *("channels", "in_use_by"),
)


def list_command(region: RegionsOption = None, as_json: JsonOption = False) -> None:
    """List the AMIs that our builds made, newest first, and what points to them."""
    records, blind = list[Mapping[str, object]](), list[str]()
    for here in regions(region):
        found = listing(here)
        records += found.records
        blind += found.blind
    print_records(records, columns=_LISTED, headings={"image_id": "AMI"}, as_json=as_json)
    for why in blind:
        say(f"could not look everywhere: {why}", err=True)


def test_command(
    ami: Annotated[str, typer.Argument(metavar="AMI", help="AMI id.")],
    region: Annotated[str | None, region_option("Region of the AMI.")] = None,
    instance_type: InstanceTypeOption = TRIAL_INSTANCE_TYPE,
    subnet: SubnetOption = None,
    timeout_minutes: Annotated[int, typer.Option(help="Give up after this long.")] = TRIAL_MINUTES,
    as_json: JsonOption = False,
) -> None:
    """Boot one instance of an AMI, print its self-test, and terminate the instance.

    On a type of the catalogue every accelerator and EFA device of that type must be there.
    Exits with 1 when a check fails. The result comes over the serial console: no key, no
    open port, no role and no network are needed.
    """
    if timeout_minutes < 1:
        raise TrainshedError(f"--timeout-minutes must be at least 1, got {timeout_minutes}")
    (here,) = regions([region] if region else None)
    place = TrialPlace(instance_type=instance_type, subnet_id=subnet, minutes=timeout_minutes)
    with progress() as show:
        selftest = try_ami(here, await_ami(here, ami, show=show), place, show=show)
    if as_json:
        print_json(selftest)
    else:
        print_selftest(selftest)
    if not selftest["ok"]:
        raise typer.Exit(1)


def prune_command(
    keep: Annotated[
        int, typer.Option(help="How many of the newest AMIs of each channel's history to keep.")
    ] = 3,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove them; without it, only list them.")
    ] = False,
    region: RegionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove AMIs that nothing uses and no channel remembers, with their snapshots.

    Whatever could not be looked at keeps them all. Without --yes nothing is removed.
    """
    if keep < 1:
        raise TrainshedError(f"--keep must be at least 1, got {keep}")
    records, failed = list[dict[str, Any]](), False
    for here in regions(region):
        for verdict in judge(here, keep=keep, now=datetime.now(UTC)):
            done, ok = _carry_out(here, verdict) if yes else (_intent(verdict), True)
            unseen = (f"could not look: {why}" for why in verdict.unseen)
            reasons = (*verdict.reasons, *unseen)
            records.append(asdict(verdict) | {"verdict": done, "reasons": reasons})
            failed = failed or not ok
    print_records(
        records,
        columns=("name", "region", "cell", "build", "verdict", "reasons"),
        headings={"name": "AMI or snapshot", "reasons": "why"},
        as_json=as_json,
    )
    if not yes and any(record["verdict"] == "goes" for record in records):
        say("nothing was removed: repeat with --yes", err=True)
    if failed:
        raise typer.Exit(1)


def _intent(verdict: Verdict) -> str:
    return "goes" if verdict.goes else "stays"


def _carry_out(region: Region, verdict: Verdict) -> tuple[str, bool]:
    if not verdict.goes:
        return "stays", True
    try:
        left = remove(region, verdict)
    except AwsRefusal as error:
        return f"stays: {error}", False
    return "; ".join(["removed", *left]), not left

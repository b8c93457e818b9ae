"""`trainshed ami publish|promote|rollback`: what a channel points to."""

from dataclasses import asdict
from typing import Annotated

import typer

from trainshed.ami.ami import Ami
from trainshed.ami.channel import Channel
from trainshed.ami.promotion import plan_promotion
from trainshed.ami.publishing import (
    Written,
    await_ami,
    check_same_build,
    find_published,
    write_channel,
)
from trainshed.ami.rollback import plan_rollback
from trainshed.ami.trial import TrialPlace, try_ami
from trainshed.aws import Region, regions
from trainshed.cli.ami.options import (
    TRIAL_INSTANCE_TYPE,
    TRIAL_MINUTES,
    CellsOption,
    InstanceTypeOption,
    RegionsOption,
    SubnetOption,
)
from trainshed.cli.ami.selftest import print_selftest
from trainshed.cli.options import JsonOption, region_option
from trainshed.cli.output import print_json, say
from trainshed.cli.progress import progress
from trainshed.errors import Failure


def publish_command(
    ami: Annotated[
        str,
        typer.Argument(metavar="MANIFEST|AMI", help="manifest.json of a build, or an AMI id."),
    ],
    channel: Annotated[str, typer.Option(help="Channel to publish to.")] = "candidate",
    region: Annotated[
        list[str] | None,
        region_option(
            "Region; give it again for more.", "those of the manifest; for an AMI id, AWS_REGION"
        ),
    ] = None,
    test: Annotated[
        bool,
        typer.Option("--test", help="Boot it once, and publish only if its self-test passes."),
    ] = False,
    instance_type: InstanceTypeOption = TRIAL_INSTANCE_TYPE,
    subnet: SubnetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Publish an AMI to a channel of its cell, in every region that it was built for.

    It may be repeated: what is done already is left as it is.
    """
    wanted = find_published(ami, region)
    with progress() as show:
        targets = {here: await_ami(here, name, show=show) for here, name in wanted.items()}
        check_same_build(list(targets.values()))
        for found in targets.values():
            # Refuses a name that no channel can have before an instance is paid for.
            Channel(cell=found.cell, name=channel)
        if test:
            here, first = next(iter(targets.items()))
            place = TrialPlace(instance_type=instance_type, subnet_id=subnet, minutes=TRIAL_MINUTES)
            selftest = try_ami(here, first, place, show=show)
            if not selftest["ok"]:
                print_selftest(selftest)
                raise Failure(f"{first.image_id} is not published: its self-test failed")
    found = next(iter(targets.values()))
    note = f"published: build {found.build}, commit {found.tag('commit')}"
    _finish(_write(targets, channel, note, as_json), as_json)


def promote_command(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Channel to take from.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Channel to give to.")],
    cell: CellsOption,
    region: RegionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a channel point to what another one points to, for instance candidate to stable."""
    with progress() as show:
        plans = [
            plan_promotion(regions(region), Channel(cell=name, name=source), show=show)
            for name in cell
        ]
    done = list[Written]()
    for targets in plans:
        build = next(iter(targets.values())).build
        done += _write(targets, target, f"promoted from {source}: build {build}", as_json)
    _finish(done, as_json)


def rollback_command(
    channel: Annotated[str, typer.Argument(help="Channel to roll back.")],
    cell: CellsOption,
    region: RegionsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a channel point to the previous AMI that still exists.

    Repeat it to go further back.

    A running cluster stays as it is: it keeps the AMI that it was deployed with.
    """
    done = list[Written]()
    for name in cell:
        plans = {
            here: plan_rollback(here, Channel(cell=name, name=channel)) for here in regions(region)
        }
        check_same_build([plan.ami for plan in plans.values()])
        for here, plan in plans.items():
            for skipped in plan.skipped:
                say(f"{here.name}: skipped because {skipped}", err=True)
            done += _write({here: plan.ami}, channel, plan.note, as_json)
    _finish(done, as_json)


def _write(targets: dict[Region, Ami], channel: str, note: str, as_json: bool) -> list[Written]:
    done = []
    for written in write_channel(targets, channel, note):
        done.append(written)
        if written.previous_base not in ("", written.base):
            say(
                f"{written.region}: {written.channel} was on {written.previous_base} and is on "
                f"{written.base} now: its root device and login name are different",
                err=True,
            )
        if not as_json:
            before = f", before {written.previous}" if written.previous else ""
            say(
                f"{written.region}: {written.channel} is {written.image_id} (build "
                f"{written.build}, version {written.version}"
                + (", as before)" if written.action == "already there" else f"{before})")
            )
    return done


def _finish(done: list[Written], as_json: bool) -> None:
    if as_json:
        print_json([asdict(written) for written in done])

"""`trainshed ami build`: Packer, in the subnet that has capacity, with an end one can act on."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from trainshed.cli.ami.progress import progress
from trainshed.cli.output import JsonOption, print_json
from trainshed.errors import TrainshedError
from trainshed.sources import packer_folder


def build_command(
    accelerator: Annotated[str, typer.Argument(help="habana, neuron or nvidia.")],
    orchestrator: Annotated[str, typer.Argument(help="ec2, ecs or eks.")],
    base: Annotated[
        str | None,
        typer.Option(
            help="Distribution under the image, for instance ubuntu-24.04.",
            show_default="the first one that the pins have for the accelerator",
            metavar="BASE",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for manifest, reports and log.",
            show_default="build/ACCELERATOR-ORCHESTRATOR, and -BASE when one is given",
            metavar="FOLDER",
        ),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(
            help="Region to build in.",
            show_default="AWS_REGION, or that of the profile",
            metavar="REGION",
        ),
    ] = None,
    subnet: Annotated[
        list[str] | None,
        typer.Option(
            "--subnet",
            help="Subnet to build in; give it again for those to move to when there is no "
            "capacity.",
            show_default="those of the default VPC, in turn",
            metavar="SUBNET",
        ),
    ] = None,
    subnet_filter: Annotated[
        list[str] | None,
        typer.Option(
            "--subnet-filter",
            help="Subnets to build in, in turn, by a filter of ec2:DescribeSubnets, for instance "
            "tag:Name=build-*; give it again to narrow them.",
            show_default=False,
            metavar="NAME=VALUE",
        ),
    ] = None,
    var: Annotated[
        list[str] | None,
        typer.Option(
            "--var",
            help="Variable of the template, for instance spot=true; give it again for more.",
            show_default=False,
            metavar="NAME=VALUE",
        ),
    ] = None,
    var_file: Annotated[
        list[Path] | None,
        typer.Option(
            "--var-file",
            help="File of such variables; give it again for more. It also chooses the subnet, "
            "unless --subnet or --subnet-filter does.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the Packer template.",
            show_default="packer/, or else the one that trainshed ships",
            metavar="FOLDER",
        ),
    ] = None,
    timeout_minutes: Annotated[int, typer.Option(help="Stop the build after this long.")] = 180,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print Packer's command line.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Bake one machine image, and print its AMI id.

    The folder gets manifest.json, selftest.json, packages.txt, sbom.cdx.json, report.md and
    build.log. On insufficient capacity, and on nothing else, the next subnet is tried.
    """
    # boto3 takes longer to import than the other commands take to run.
    from trainshed.ami.building import LOG, BuildRequest, build
    from trainshed.ami.channel import cells
    from trainshed.ami.packer import find_packer
    from trainshed.ami.prerequisites import check_prerequisites
    from trainshed.ami.report import write_report
    from trainshed.ami.revision import revision
    from trainshed.ami.subnets import find_subnets
    from trainshed.aws import regions

    if f"{accelerator}/{orchestrator}" not in cells():
        raise TrainshedError(
            f"there is no AMI for {accelerator}/{orchestrator}, only for {', '.join(cells())}"
        )
    template = template or packer_folder()
    _check(template, var or [], timeout_minutes)
    if base is not None:
        _check_base(template, accelerator, orchestrator, base)
    packer = find_packer()
    if not dry_run:
        check_prerequisites(var or [], has_files=bool(var_file))
    (here,) = regions([region] if region else None)
    named, filters = subnet or [], subnet_filter or []
    by_template = var_file or any(one.startswith("subnet_") for one in var or [])
    ours = bool(named or filters) or not by_template
    request = BuildRequest(
        accelerator=accelerator,
        orchestrator=orchestrator,
        template=template,
        output=output or Path("build") / "-".join(filter(None, (accelerator, orchestrator, base))),
        region=here.name,
        commit=revision(template),
        base=base,
        variables=var or [],
        variable_files=var_file or [],
        subnets=find_subnets(here, named=named, filters=filters) if ours else [],
        minutes=timeout_minutes,
    )
    if dry_run:
        for one in request.subnets or (None,):
            typer.echo(shlex.join(request.command(packer, template.resolve(), one)))
        return
    try:
        with progress() as tell:
            images = build(request, packer, here, tell=tell)
    finally:
        if (request.output / LOG).exists():
            typer.echo(f"log: {request.output / LOG}", err=True)
    if as_json:
        print_json({"images": images, "output": request.output})
    else:
        for name, image_id in images.items():
            typer.echo(image_id if name == here.name else f"{name}: {image_id}")
    write_report(request.output)


def _check_base(template: Path, accelerator: str, orchestrator: str, base: str) -> None:
    from trainshed.pins import read_pins

    refused = read_pins(template / "pins.json").base_of(accelerator, base).refused
    if orchestrator in refused:
        raise TrainshedError(
            f"there is no AMI for {accelerator}/{orchestrator} on {base}: "
            f"{refused[orchestrator]}; leave out --base"
        )


def _check(template: Path, variables: list[str], minutes: int) -> None:
    if not list(template.glob("*.pkr.hcl")):
        raise TrainshedError(
            f"{template} has no Packer template (*.pkr.hcl); give its folder with --template"
        )
    for variable in variables:
        if "=" not in variable:
            raise TrainshedError(f"--var {variable!r} is not NAME=VALUE")
    if minutes < 1:
        raise TrainshedError(f"--timeout-minutes must be at least 1, got {minutes}")

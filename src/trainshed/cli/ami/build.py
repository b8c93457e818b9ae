"""`trainshed ami build`: run Packer in a subnet that has capacity, and explain a failure."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from trainshed.ami.build_request import LISTED, BuildRequest
from trainshed.ami.building import LOG, build
from trainshed.ami.packer import find_packer
from trainshed.ami.prerequisites import check_prerequisites
from trainshed.ami.report import write_report
from trainshed.app.sources import packer_folder
from trainshed.aws import regions
from trainshed.cli.options import JsonOption, region_option
from trainshed.cli.output import print_json, say
from trainshed.cli.progress import progress
from trainshed.spec.pipeline import BUILD_MINUTES


def build_command(
    accelerator: Annotated[str, typer.Argument(help="habana, neuron or nvidia.")],
    agent: Annotated[
        str, typer.Argument(help="ec2, ecs, or eks-1.35 for one version of Kubernetes.")
    ],
    base: Annotated[
        str | None,
        typer.Option(
            help="Distribution of the AMI, for instance ubuntu-24.04.",
            show_default="the first one that the pins have for the accelerator",
            metavar="BASE",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for manifest, reports and log.",
            show_default="build/ACCELERATOR-AGENT, and -BASE when one is given",
            metavar="FOLDER",
        ),
    ] = None,
    region: Annotated[str | None, region_option("Region to build in.")] = None,
    subnet: Annotated[
        list[str] | None,
        typer.Option(
            "--subnet",
            help="Subnet to build in; give it again for others to try when there is no capacity.",
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
            metavar="NAME=VALUE",
        ),
    ] = None,
    var: Annotated[
        list[str] | None,
        typer.Option(
            "--var",
            help="Variable of the template, for instance spot=true; give it again for more.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    var_file: Annotated[
        list[Path] | None,
        typer.Option(
            "--var-file",
            help="File of such variables; give it again for more. It also chooses the subnet, "
            "unless --subnet or --subnet-filter does.",
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
    timeout_minutes: Annotated[
        int, typer.Option(help="Stop the build after this long.")
    ] = BUILD_MINUTES,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only print Packer's command line; asks nothing of AWS."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Bake one AMI, and print its id.

    The folder gets manifest.json, selftest.json, packages.txt, sbom.cdx.json, report.md and
    build.log. On insufficient capacity, and on nothing else, the next subnet is tried.
    """
    template = template or packer_folder()
    request = BuildRequest(
        accelerator=accelerator,
        agent=agent,
        template=template,
        output=output or Path("build") / "-".join(filter(None, (accelerator, agent, base))),
        base=base,
        variables=var or (),
        variable_files=var_file or (),
        minutes=timeout_minutes,
    )
    request.check()
    (here,) = regions([region] if region else None)
    if dry_run:
        for each in request.foreseen_subnets(named=subnet or (), filters=subnet_filter or ()):
            say(shlex.join(request.command("packer", template.resolve(), here.name, each)))
            if each == LISTED:
                say(f"{LISTED}: each subnet that AWS lists, in turn", err=True)
        return
    packer = find_packer()
    check_prerequisites(packer, request.variables, has_files=bool(var_file))
    subnets = request.subnets(here, named=subnet or (), filters=subnet_filter or ())
    try:
        with progress() as show:
            amis = build(request, packer, here, subnets, show=show)
    finally:
        if (request.output / LOG).exists():
            say(f"log: {request.output / LOG}", err=True)
    if as_json:
        print_json({"amis": amis, "output": request.output})
    else:
        for name, image_id in amis.items():
            say(image_id if name == here.name else f"{name}: {image_id}")
    write_report(request.output)

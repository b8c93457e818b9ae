"""Options that several commands of `trainshed ami` have."""

from typing import Annotated

import typer

from trainshed.cli.options import region_option

# Of the instance that tries an AMI: any type boots it, and its self-test takes few of the minutes.
TRIAL_INSTANCE_TYPE = "m6i.xlarge"
TRIAL_MINUTES = 20

RegionsOption = Annotated[
    list[str] | None,
    region_option("Region; give it again for more."),
]
CellsOption = Annotated[
    list[str],
    typer.Option(
        "--cell",
        help="Accelerator and agent, for instance neuron/ecs; give it again for more.",
        metavar="CELL",
    ),
]
InstanceTypeOption = Annotated[
    str,
    typer.Option(
        help="Type to boot. One with the AMI's accelerator must show all its devices; any other "
        "shows none.",
        metavar="TYPE",
    ),
]
SubnetOption = Annotated[
    str | None,
    typer.Option(
        help="Subnet to boot in; needs no internet access.",
        show_default="the default VPC's",
        metavar="SUBNET",
    ),
]

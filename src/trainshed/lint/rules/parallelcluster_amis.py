"""The AMIs of ParallelCluster's nodes."""

from collections.abc import Iterator

from trainshed.catalogue import AcceleratorFamily
from trainshed.checks.software import CENTOS_7_END, UBUNTU_18_END
from trainshed.findings import Severity, Violation, rule
from trainshed.lint.examples import slurm_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind
from trainshed.lint.parallelcluster import (
    ParallelCluster,
    QueueNodes,
    parallelclusters,
    slurm_nodes,
)
from trainshed.lint.read import read
from trainshed.lint.tool_groups import named_types

_IMAGE = "https://docs.aws.amazon.com/parallelcluster/latest/ug/Image-section-v3.html"
_VALIDATORS = "https://github.com/aws/aws-parallelcluster/blob/develop/cli/src/pcluster/validators/"
# By their names in Image.Os; Amazon Linux 2 and Ubuntu 20.04 have rules of their own.
_ENDED = {
    "centos7": CENTOS_7_END,
    "ubuntu1804": UBUNTU_18_END,
}


@rule(
    "TS-PCL-009",
    title="ParallelCluster's AMIs have no driver for the accelerator",
    severity=Severity.ERROR,
    why="""
ParallelCluster's own AMIs have NVIDIA's driver with open kernel modules, which drive GPUs from
Turing on, and not those of P3. Gaudi's driver is in none of them.
""",
    sources=(
        "https://github.com/aws/aws-parallelcluster/issues/6014",
        f"{_VALIDATORS}instances_validators.py",
    ),
    over=in_files(slurm_nodes),
    example=slurm_example("InstanceType: dl1.24xlarge, Efa: {Enabled: true}"),
)
def no_driver(nodes: QueueNodes) -> Iterator[Violation]:
    """Accelerators need an AMI with their driver."""
    if read(nodes.image):
        return
    types = read(nodes.instance_types)
    for instance in named_types(nodes):
        accelerator = instance.accelerator
        gaudi = accelerator.family is AcceleratorFamily.HABANA
        if types and (gaudi or accelerator.name == "V100"):
            yield Violation(
                path=types.path,
                message=f"ParallelCluster's AMIs have no driver for the {accelerator.name} of "
                f"{instance.name} in {nodes.name}",
                remedy="build an AMI that has it, and name it in Image: {CustomAmi: ami-...} of "
                "the queue",
            )


@rule(
    "TS-PCL-010",
    title="The operating system of the nodes gets no more updates",
    why="""
Its maintainers release no more public security updates, and the EFA installer no longer lists it.
""",
    sources=(
        _IMAGE,
        "https://www.centos.org/centos-linux-eol/",
        "https://ubuntu.com/about/release-cycle",
    ),
    over=in_files(parallelclusters),
    example={
        FileKind.PARALLELCLUSTER: """
Region: us-west-2
Image: {Os: centos7}
HeadNode: {InstanceType: m5.large}
Scheduling: {Scheduler: slurm, SlurmQueues: []}
"""
    },
)
def ended_system(cluster: ParallelCluster) -> Iterator[Violation]:
    """Nodes should run what gets updates."""
    system = read(cluster.system)
    if system and system.value in _ENDED:
        yield Violation(
            path=system.path,
            message=f"{system.value} has had no updates since {_ENDED[system.value]}",
            remedy="use alinux2023 or ubuntu2404",
        )

"""The AMIs of nodes that eksctl or ParallelCluster launches."""

import re
from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.examples import eksctl_example, slurm_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, LintedFile, NodeGroup
from trainshed.lint.read import read

_AMI_ID = re.compile(r"ami-[0-9a-f]{8}([0-9a-f]{9})?")


def _nodes(document: LintedFile) -> tuple[NodeGroup, ...]:
    return () if document.kind is FileKind.CLOUDFORMATION else document.groups


@rule(
    "TS-GRP-005",
    title="The AMI of nodes is not named by its id",
    severity=Severity.ERROR,
    why="""
eksctl takes the id of an AMI in `ami`, ParallelCluster in `CustomAmi`. Neither reads a parameter of
Systems Manager there: the path of one is refused.
""",
    sources=(
        "https://docs.aws.amazon.com/parallelcluster/latest/ug/Image-section-v3.html",
        "https://docs.aws.amazon.com/eks/latest/eksctl/custom-ami-support.html",
    ),
    over=in_files(_nodes),
    example=eksctl_example(
        "managedNodeGroups: [{name: train, instanceType: p5.48xlarge, ami: /my/ami}]"
    )
    | slurm_example("InstanceType: p5.48xlarge", "Image: {CustomAmi: /my/ami}"),
)
def ami_without_id(group: NodeGroup) -> Iterator[Violation]:
    """AMIs are named by their ids."""
    image = read(group.image)
    if image and not _AMI_ID.fullmatch(image.value):
        yield Violation(
            path=image.path,
            message=f"{image.value!r} is not the id of an AMI",
            remedy="give the id, which aws ssm get-parameter prints for a path",
        )

"""Instance types and accelerators that are withdrawn, or near their end."""

from collections.abc import Iterator

from trainshed import catalogue
from trainshed.catalogue import LifecycleStatus
from trainshed.checks import clusters
from trainshed.checks.software import LAST_SOFTWARE
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import ClusterPlan


@rule(
    "TS-LIF-001",
    over=clusters,
    title="The EC2 API no longer lists the instance type",
    why="""
`DescribeInstanceTypes` and `DescribeInstanceTypeOfferings` no longer return the type in any
region. AWS announced nothing, prices are still published, and accounts that run such instances
may keep them, but a new launch is likely to fail: a job then waits in `RUNNABLE` forever.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/getmoto/moto/tree/master/moto/ec2/resources",
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html",
    ),
    example="instance: {type: dl1.24xlarge}",
)
def withdrawn_type(plan: ClusterPlan) -> Iterator[Violation]:
    """The EC2 API must list the type of the nodes."""
    lifecycle = plan.instance.lifecycle
    if plan.instance.withdrawn:
        yield Violation(
            path=("instance", "type"),
            message=f"the EC2 API has not listed {plan.instance.name} since "
            f"{lifecycle.first_missing} (last seen {lifecycle.last_seen}): it may not launch",
            remedy=f"use {_in_region(lifecycle.replacement or '', plan.region)}",
        )


@rule(
    "TS-LIF-002",
    over=clusters,
    title="AWS calls the instance type previous generation",
    severity=Severity.INFO,
    why="""
AWS still sells it, and advises to use a later one. Types that it no longer sells were called so
first.
""",
    sources=("https://aws.amazon.com/ec2/previous-generation/",),
    example="instance: {type: p3dn.24xlarge, ami: v100}",
)
def previous_generation(plan: ClusterPlan) -> Iterator[Violation]:
    """Plans for years should not rest on a type that may go."""
    lifecycle = plan.instance.lifecycle
    if lifecycle.status is LifecycleStatus.PREVIOUS_GENERATION:
        yield Violation(
            path=("instance", "type"),
            message=f"{plan.instance.name} is of a previous generation",
            remedy=f"plan for {_in_region(lifecycle.replacement or '', plan.region)}",
        )


@rule(
    "TS-LIF-006",
    over=clusters,
    title="The accelerator gets no new software",
    severity=Severity.INFO,
    why="""
Its maker releases no further driver, compiler or library for it. Existing releases work on the
kernels and with the frameworks of their time, and get no fixes.
""",
    sources=tuple(dict.fromkeys(source for _, source in LAST_SOFTWARE.values())),
    example="instance: {type: dl1.24xlarge}",
)
def last_software(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever starts with an accelerator should know how long its software lives."""
    accelerator = plan.instance.accelerator
    if accelerator.name in LAST_SOFTWARE:
        last, _ = LAST_SOFTWARE[accelerator.name]
        yield Violation(
            path=("instance", "type"),
            message=f"the last software for the {accelerator.name} of {plan.instance.name} is "
            f"{last}",
            remedy="pin what works, image and AMI, and plan the next training for another type",
        )


def _in_region(name: str, region: str) -> str:
    """Name a type, and where it is offered when that is not in the cluster's region."""
    regions = catalogue.regions_offering(name)
    if region in regions:
        return name
    return f"{name}, which {region} does not offer (offered in: {', '.join(regions)})"

"""What is withdrawn, or has reached its end of life."""

from collections.abc import Iterator

from trainshed import catalogue
from trainshed.checks.rule import Basis, Violation, rule
from trainshed.plan import ClusterPlan


@rule(
    "TS-LIF-001",
    title="The EC2 API no longer lists the instance type",
    why="""
`DescribeInstanceTypes` and `DescribeInstanceTypeOfferings` no longer return the type in any
region. AWS announced nothing, prices are still published, and accounts that run such instances
may keep them, but a new launch is likely to fail: a job then waits in `RUNNABLE` for ever.
""",
    basis=Basis.OBSERVED,
    sources=(
        "https://github.com/getmoto/moto/tree/master/moto/ec2/resources",
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html",
    ),
    example="""
name: Example
region: us-west-2
instance: {type: dl1.24xlarge}
""",
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


def _in_region(name: str, region: str) -> str:
    """Name a type, and where it is offered when that is not in the cluster's region."""
    regions = catalogue.regions_offering(name)
    if region in regions:
        return name
    return f"{name}, which {region} does not offer (offered in: {', '.join(regions)})"

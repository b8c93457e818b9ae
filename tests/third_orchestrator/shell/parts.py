"""The parts of its clusters."""

from collections.abc import Iterator

from trainshed.parts.job import job_facts
from trainshed.parts.model import Arrow, Fact, PartResources, PlannedPart
from trainshed.plan import ClusterPlan

STARTS_JOBS = ("scripts",)


def planned_parts(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield what starts the nodes."""
    yield PlannedPart(
        kind="scripts",
        facts=(Fact(name="shell group"), *job_facts(plan)),
        resources=PartResources(stack=plan.name, types=("AWS::AutoScaling::AutoScalingGroup",)),
    )


def planned_links(plan: ClusterPlan) -> Iterator[Arrow]:
    """Yield the arrows from them."""
    yield Arrow(start="scripts", end="nodes", text="launches")


def new_template(plan: ClusterPlan) -> str:
    """Say who takes a new version of the launch template, and when."""
    return "nodes that are launched from now on take it"

"""The parts of a cluster that run its jobs on plain EC2 nodes."""

from collections.abc import Iterator

from trainshed.parts.job import job_facts
from trainshed.parts.model import Arrow, Fact, PartResources, PlannedPart
from trainshed.plan import ClusterPlan

STARTS_JOBS = ("document", "group")


def planned_parts(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield what starts the nodes and the jobs of a cluster."""
    yield PlannedPart(
        kind="document",
        facts=(Fact(name="job document"), *job_facts(plan)),
        resources=PartResources(stack=plan.name, types=("AWS::SSM::Document",)),
    )
    yield PlannedPart(
        kind="group",
        facts=(Fact(name="Auto Scaling group"),),
        resources=PartResources(stack=plan.name, types=("AWS::AutoScaling::AutoScalingGroup",)),
    )


def planned_links(plan: ClusterPlan) -> Iterator[Arrow]:
    """Yield the arrows from these parts."""
    yield Arrow(start="document", end="nodes", text="runs jobs on")
    yield Arrow(start="group", end="nodes", text="launches")


def new_template(plan: ClusterPlan) -> str:
    """Say who takes a new version of the launch template, and when."""
    return "nodes that are launched from now on take it, and those that run keep theirs"

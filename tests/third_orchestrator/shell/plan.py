"""What it needs to run the jobs of a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from trainshed.plan.jobs import PlannedNode
from trainshed.plan.notes import Notes

from .traits import ShellSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellPlan:
    """What jobs get.

    Attributes:
        environment: their variables.
        timeout_hours: a job that runs longer is ended.
    """

    image: ClassVar[None] = None
    repository: ClassVar[None] = None
    control_plane: ClassVar[None] = None

    environment: Mapping[str, str]
    timeout_hours: int


def plan(notes: Notes, node: PlannedNode) -> ShellPlan:
    """Plan the jobs: they get the variables that were asked for, and no others."""
    job, nodes = notes.spec.job, notes.spec.instance.nodes.max
    shell = notes.spec.section(ShellSpec)
    if nodes > shell.most_nodes:
        notes.problem(
            "instance.nodes.max", f"is {nodes}; a command takes {shell.most_nodes} instances"
        )
    notes.decide("jobs", "shell scripts", f"on {node.instance.name}, by AWS-RunShellScript")
    return ShellPlan(environment=job.environment, timeout_hours=min(job.timeout_hours, 48))

"""What a cluster of plain EC2 instances needs to run jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from trainshed.plan.job_environment import network_environment
from trainshed.plan.jobs import PlannedNode
from trainshed.plan.notes import Notes

# AWS Systems Manager API reference, plugin aws:runShellScript, timeoutSeconds: 48 hours.
LONGEST_COMMAND_HOURS = 48
# API reference, SendCommand, InstanceIds: a job names its nodes.
MOST_NODES = 50
# A node waits up to half an hour for its file system.
_BOOT_MINUTES = 45


@dataclass(frozen=True, slots=True, kw_only=True)
class Ec2Plan:
    """What a cluster of plain EC2 instances needs to run jobs.

    Attributes:
        boot_minutes: within how many all of them must have booted, or none stays.
        environment: variables of the jobs.
        timeout_hours: a job that runs longer is ended.
    """

    image: ClassVar[None] = None
    repository: ClassVar[None] = None
    control_plane: ClassVar[None] = None

    boot_minutes: int
    environment: Mapping[str, str]
    timeout_hours: int


def plan(notes: Notes, node: PlannedNode) -> Ec2Plan:
    """Plan the group of instances and what their jobs get.

    Args:
        notes: for decisions and problems.
        node: what is planned of each.
    """
    nodes = notes.spec.instance.nodes
    if "min" in nodes.model_fields_set and nodes.min != nodes.max:
        notes.problem(
            "instance.nodes.min",
            f"all {nodes.max} nodes of a cluster with orchestrator ec2 are there all the time; "
            "leave min out",
        )
    if nodes.max > MOST_NODES:
        notes.problem(
            "instance.nodes.max",
            f"is {nodes.max}; a job on plain EC2 nodes is a command of Systems Manager, which "
            f"takes at most {MOST_NODES} instances; ask for fewer, or use orchestrator batch",
        )
    notes.decide(
        "nodes",
        nodes.max,
        f"all of them within {_BOOT_MINUTES} minutes, or the deployment fails and none stays",
    )
    return Ec2Plan(
        boot_minutes=_BOOT_MINUTES,
        environment=_environment(notes, node),
        timeout_hours=_timeout(notes),
    )


def _environment(notes: Notes, node: PlannedNode) -> Mapping[str, str]:
    asked = notes.spec.job.environment
    nodes = notes.spec.instance.nodes.max
    environment = network_environment(node.instance, node.devices, nodes) | asked
    # Names only: a value of the file may be one that should not be in a log.
    notes.decide(
        "job environment",
        ", ".join(environment) or "none",
        "as asked, and what the accelerator needs" if asked else "what the accelerator needs",
    )
    return environment


def _timeout(notes: Notes) -> int:
    job = notes.spec.job
    if "timeout_hours" not in job.model_fields_set:
        hours, reason = LONGEST_COMMAND_HOURS, "the longest that Run Command takes"
    else:
        hours, reason = job.timeout_hours, "as asked"
    if hours > LONGEST_COMMAND_HOURS:
        notes.problem(
            "job.timeout_hours",
            f"is {hours}; jobs on plain EC2 nodes are commands of Systems Manager, which ends them "
            f"after {LONGEST_COMMAND_HOURS} hours; take less, and let jobs resume from checkpoints",
        )
    notes.decide("job time-out", f"{hours} hours", reason)
    return hours

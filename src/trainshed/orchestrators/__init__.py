"""The orchestrators: what each does in its own way, in one folder for each.

A folder has a module for each part that others ask for, by `part(name, "plan")`:

| part | has |
|---|---|
| traits | what is known of the orchestrator before anything is planned; of clusters on Spot, too |
| plan | what it needs to run the jobs of a cluster: a `trainshed.plan.JobsPlan` |
| rules | rules over its plans, for `trainshed check`; may be missing |
| account_rules | rules over the account, for `trainshed preflight` |
| job_rules | rules over what is known of a job, for `trainshed job why`; may be missing |
| monitoring | the graphs, alarms and rules for events of its nodes and jobs |
| parts | the parts of a cluster that start its jobs, as its plan has them |
| scheduler | what runs the jobs of a deployed cluster: a `trainshed.jobs.scheduler.Scheduler` |
| repair | what takes its nodes out of service and back: a `trainshed.repair.control.NodeControl` |
| node_states | how many nodes it wants, and what it says of them: `trainshed.jobs.node_states` |
| deployed | how many nodes it has, by a template that is deployed |
| risks | what a change of its resources does to jobs, and to the nodes that run them |
| kubernetes | what Kubernetes has for a cluster, and its nodes; may be missing |
| faults | what can go wrong with a job in a rehearsal |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any

from trainshed.documents.model import Model
from trainshed.interfaces import InterfaceProfile

# Output of a cluster's stack: the name of its orchestrator.
ORCHESTRATOR_OUTPUT = "Orchestrator"


class Orchestrator(StrEnum):
    """What starts the jobs: AWS Batch, `trainshed job` on plain instances, or Amazon EKS."""

    BATCH = "batch"
    EC2 = "ec2"
    EKS = "eks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What is known of an orchestrator before anything is planned.

    Attributes:
        agent: second part of the cell of its AMIs, for instance `ecs`; where there is a control
            plane, `-` and its minor version of Kubernetes follow.
        profile: layout of the interfaces that is made for it.
        profile_reason: why.
        job_interface: a job gets an interface of its own on card 0 of each node.
        job_addresses: private addresses that jobs take on each node, beside the node's own.
        in_containers: jobs run in containers, whose image each node pulls.
        keeps_nodes: all nodes are there all the time, also while no job runs.
        when_stopped: what becomes of jobs when the cluster's nodes are stopped.
        when_expired: what becomes of jobs when they are stopped for good; None for the same.
        services: what a node cannot do without, by the names of the services' endpoints.
        uses_default_group: jobs are in the default security group of the VPC.
        control_plane: it has a control plane in the VPC, which needs a subnet in another zone.
        sections: models of the sections of its cluster files that are its own, by field: `image`,
            `job`, and any that no other orchestrator has.
        fields: of the cluster file, that its resources follow from, by how their types begin.
        job_logs: construct id of the log group that keeps the output of jobs.
        most_on_spot: how many nodes a cluster may have on Spot; None for any number.
        not_on_spot: why it has no more; None for any number.
        no_calendar: why its nodes are not launched into one block or reservation after another;
            None where they are.
        one_type: why its nodes are of one instance type; None where EC2 may launch another one.
        spot_order: in which order several types are launched on Spot; None where it is that of the
            cluster file, as far as capacity lets it.
        without: what its jobs do not do, for those who ask for it with a field of another one.
    """

    agent: str
    profile: InterfaceProfile
    profile_reason: str
    job_interface: bool
    job_addresses: int
    in_containers: bool
    keeps_nodes: bool
    when_stopped: str
    when_expired: str | None
    services: tuple[str, ...]
    uses_default_group: bool
    control_plane: bool
    sections: Mapping[str, type[Model]]
    fields: Mapping[str, str]
    job_logs: str
    most_on_spot: int | None
    not_on_spot: str | None
    no_calendar: str | None
    one_type: str | None
    spot_order: str | None
    without: str

    @property
    def at_expiry(self) -> str:
        """What becomes of jobs when the cluster's nodes are stopped for good."""
        return self.when_expired or self.when_stopped

    def why_not_on_spot(self, nodes: int) -> str | None:
        """Say why a cluster of some nodes is not bought on Spot; None where it may be."""
        fits = self.most_on_spot is None or nodes <= self.most_on_spot
        return None if fits else self.not_on_spot

    def on_spot(self, nodes: int) -> str:
        """Say what to know of a price on Spot."""
        return self.why_not_on_spot(nodes) or "a job ends when EC2 takes a node back"


@cache
def traits(orchestrator: Orchestrator, *, spot: bool = False) -> Traits:
    """Return what is known of an orchestrator before anything is planned.

    Args:
        orchestrator: of the cluster.
        spot: its nodes are on Spot.
    """
    known = part(orchestrator, "traits")
    found: Traits = known.TRAITS
    return getattr(known, "SPOT_TRAITS", found) if spot else found


def part(orchestrator: Orchestrator, name: str) -> Any:
    """Return a part of an orchestrator: the module of that name in its folder."""
    return import_module(f"{__name__}.{orchestrator}.{name}")

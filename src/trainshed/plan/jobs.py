"""What jobs need of a cluster, whatever orchestrator starts them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from trainshed.catalogue import InstanceType
from trainshed.interfaces import NetworkInterface
from trainshed.plan.capacity import CapacityPlan
from trainshed.plan.container_image import ImagePlan
from trainshed.plan.control_plane import ControlPlanePlan
from trainshed.plan.network import NetworkPlan
from trainshed.plan.repository import RepositoryPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNode:
    """What is planned of a node before its jobs are.

    Attributes:
        instance: its type.
        interfaces: its network interfaces.
        devices: how many of each kind it has.
        capacity: how it is bought.
        folders: of it that jobs use, by the volume's name.
        network: that it is in.
    """

    instance: InstanceType
    interfaces: tuple[NetworkInterface, ...]
    devices: Mapping[str, int]
    capacity: CapacityPlan
    folders: Mapping[str, str]
    network: NetworkPlan

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """The types that it may be of."""
        return (self.instance, *self.capacity.other_types)


class JobsPlan(Protocol):
    """What an orchestrator needs to run the jobs of a cluster: what all of them have.

    The part `plan` of an orchestrator has `plan(notes, node)`, which returns its own.
    """

    @property
    def timeout_hours(self) -> int:
        """A job that runs longer is ended."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables of the jobs."""

    @property
    def image(self) -> ImagePlan | None:
        """Container image of the jobs; None where they run on the nodes themselves."""

    @property
    def repository(self) -> RepositoryPlan | None:
        """The cluster's own ECR repository of the image, or None."""

    @property
    def control_plane(self) -> ControlPlanePlan | None:
        """The control plane of Kubernetes that its jobs are submitted to, or None."""

"""The shared storage of a cluster: of each kind what AWS offers, and what is chosen."""

from collections.abc import Iterator

from trainshed.catalogue import InstanceType
from trainshed.plan.network import NetworkPlan
from trainshed.plan.notes import Notes
from trainshed.plan.storage.lustre import LustrePlan, plan_lustre
from trainshed.plan.storage.model import Mount, StorageKind, StoragePlan, parameter_prefix
from trainshed.plan.zone import Zone

__all__ = [
    "STORAGES",
    "LustrePlan",
    "Mount",
    "StorageKind",
    "StoragePlan",
    "parameter_prefix",
    "plan_storage",
]

# Every kind, in the order in which nodes mount them.
STORAGES: tuple[type[StoragePlan], ...] = (LustrePlan,)


def plan_storage(
    notes: Notes, network: NetworkPlan, zone: Zone | None, instance: InstanceType | None
) -> tuple[StoragePlan, ...]:
    """Resolve `storage`, in the order in which nodes mount it."""
    planned = tuple(_planned(notes, network, zone, instance))
    if not planned:
        notes.decide("storage", "none", "storage is not given")
    return planned


def _planned(
    notes: Notes, network: NetworkPlan, zone: Zone | None, instance: InstanceType | None
) -> Iterator[StoragePlan]:
    asked = notes.spec.storage
    if asked.lustre:
        yield plan_lustre(notes, asked.lustre, network.name, zone, instance)

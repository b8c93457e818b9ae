"""The OpenZFS file system: home folders and code."""

from dataclasses import dataclass

from trainshed.catalogue.openzfs import THROUGHPUTS
from trainshed.plan.notes import Notes, origin
from trainshed.plan.storage.model import StorageKind, StoragePlan
from trainshed.plan.zone import Zone
from trainshed.spec import OpenZfsSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenZfsPlan(StoragePlan):
    """An FSx for OpenZFS file system in the zone of the nodes.

    Attributes:
        new: settings of a new one.
    """

    kind = StorageKind.OPENZFS
    title = "OpenZFS file system"
    client = "NFS client"
    resource_type = "AWS::FSx::FileSystem"
    stack_suffix = "OpenZfs"
    clients_group = "OpenZfsClients"

    mount: str
    new: OpenZfsSpec | None

    @property
    def interfaces(self) -> int:
        """Those of the server and of its standby (inferred)."""
        return 2 if self.new else 0


def plan_openzfs(notes: Notes, asked: OpenZfsSpec, network: str, zone: Zone | None) -> OpenZfsPlan:
    """Resolve `storage.openzfs`."""
    if asked.existing:
        notes.decide("OpenZFS", asked.existing, "as asked; nodes mount its root volume")
    else:
        _check_throughput(notes, asked.throughput)
        _decide(notes, asked)
    notes.decide(
        "OpenZFS mount",
        asked.mount,
        f"{origin(asked, 'mount')}; by NFS, the same path on nodes and in containers",
    )
    name = asked.name or notes.spec.short_name
    return OpenZfsPlan(
        name=name,
        stack_name=OpenZfsPlan.stack_for(name),
        network=network,
        zone=None if asked.existing else zone,
        existing=asked.existing,
        new=None if asked.existing else asked,
        mount=asked.mount,
    )


def _decide(notes: Notes, asked: OpenZfsSpec) -> None:
    """Note what the file system is, and where each part of that comes from."""
    notes.decide(
        "OpenZFS",
        f"{asked.capacity_gib} GiB",
        f"{origin(asked, 'capacity_gib')}; with a standby in the same zone, and daily backups",
    )
    notes.decide("OpenZFS throughput", f"{asked.throughput} MB/s", origin(asked, "throughput"))
    notes.decide("OpenZFS compression", asked.compression, origin(asked, "compression"))


def _check_throughput(notes: Notes, throughput: int) -> None:
    if throughput not in THROUGHPUTS:
        near = min(THROUGHPUTS, key=lambda step: abs(step - throughput))
        notes.problem(
            "storage.openzfs.throughput",
            f"{throughput} MB/s is not allowed; did you mean {near}? "
            f"(allowed: {', '.join(map(str, THROUGHPUTS))})",
        )

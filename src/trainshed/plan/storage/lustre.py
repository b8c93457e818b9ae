"""The Lustre file system: the sizes that FSx offers, and the chosen one."""

from dataclasses import dataclass

from trainshed.catalogue import InstanceType
from trainshed.catalogue.lustre import SCRATCH_THROUGHPUT, SSD_SIZES, THROUGHPUTS, efa_sizes
from trainshed.plan.notes import Notes, origin
from trainshed.plan.storage.model import StorageKind, StoragePlan
from trainshed.plan.zone import Zone
from trainshed.spec import DeploymentType, LustreSpec

# FSx for Lustre API reference, CreateFileSystem and CreateFileSystemLustreConfiguration.
_METADATA_IOPS = (1500, 3000, 6000, *range(12000, 192001, 12000))


@dataclass(frozen=True, slots=True, kw_only=True)
class LustrePlan(StoragePlan):
    """An FSx for Lustre file system, and where it is.

    Attributes:
        new: settings of a new one, with the throughput that it gets.
    """

    kind = StorageKind.LUSTRE
    title = "Lustre file system"
    client = "Lustre client"
    resource_type = "AWS::FSx::FileSystem"
    stack_suffix = "Storage"
    clients_group = "StorageClients"

    mount: str
    new: LustreSpec | None

    @property
    def exported_as(self) -> str:
        """What its network's stack calls the group of its clients, deployed ones too."""
        return f"file system {self.name}"

    @property
    def interfaces(self) -> int:
        """Further addresses that a new file system takes, about.

        Inferred: one network interface for each 1.2 TiB of storage and one for metadata.
        """
        return self.new.capacity_gib // 1200 + 1 if self.new else 0


def plan_lustre(
    notes: Notes,
    asked: LustreSpec,
    network: str,
    zone: Zone | None,
    instance: InstanceType | None,
) -> LustrePlan:
    """Resolve `storage.lustre`."""
    if asked.efa:
        _check_efa_client(notes, instance)
    if asked.existing:
        notes.decide(
            "file system",
            asked.existing,
            "as asked; nodes let every user write to its root (mode 1777) if that is as FSx made "
            "it (root's, mode 0755), and change nothing else",
        )
    name = asked.name or notes.spec.short_name
    return LustrePlan(
        name=name,
        stack_name=LustrePlan.stack_for(name),
        network=network,
        zone=None if asked.existing else zone,
        existing=asked.existing,
        new=None if asked.existing else _new(notes, asked),
        mount=asked.mount,
        efa=asked.efa,
    )


def _new(notes: Notes, asked: LustreSpec) -> LustreSpec:
    """Check what is asked of a new file system, and resolve its throughput."""
    persistent = asked.deployment is DeploymentType.PERSISTENT_2
    throughput = _throughput(notes, asked, persistent)
    _check_metadata_iops(notes, asked, persistent)
    if asked.efa and not persistent:
        notes.problem("storage.lustre.efa", "only persistent-2 can be reached over EFA")
    _check_capacity(notes, asked, throughput if asked.efa and persistent else None)
    _decide(notes, asked, throughput)
    return asked.model_copy(update={"throughput": throughput})


def _decide(notes: Notes, asked: LustreSpec, throughput: int | None) -> None:
    """Note what the file system is, and where each part of that comes from."""
    notes.decide(
        "storage",
        f"Lustre {asked.deployment}, {asked.capacity_gib} GiB",
        f"capacity: {origin(asked, 'capacity_gib')}; deployment: {origin(asked, 'deployment')}",
    )
    notes.decide(
        "storage throughput",
        f"{throughput or SCRATCH_THROUGHPUT} MB/s per TiB",
        origin(asked, "throughput") if throughput else "what scratch-2 has, always",
    )
    if asked.deployment is DeploymentType.PERSISTENT_2:
        notes.decide(
            "storage metadata",
            f"{asked.metadata_iops} IOPS" if asked.metadata_iops else "automatic",
            "as asked" if asked.metadata_iops else "FSx scales its IOPS with the storage",
        )
    notes.decide("storage compression", asked.compression, origin(asked, "compression"))
    notes.decide(
        "storage network",
        "EFA" if asked.efa else "TCP",
        origin(asked, "efa"),
    )
    notes.decide(
        "storage mount",
        asked.mount,
        f"{origin(asked, 'mount')}; the same path on nodes and in containers",
    )
    if asked.s3:
        link = f"s3://{asked.s3.bucket}/{asked.s3.prefix}"
        notes.decide("storage S3 link", link, "as asked; at the root of the file system")


def _throughput(notes: Notes, asked: LustreSpec, persistent: bool) -> int | None:
    if not persistent:
        if asked.throughput is not None:
            notes.problem(
                "storage.lustre.throughput",
                f"{asked.throughput} is not allowed: scratch-2 has {SCRATCH_THROUGHPUT} MB/s per "
                "TiB, always",
            )
        return None
    throughput = 250 if asked.throughput is None else asked.throughput
    if throughput not in THROUGHPUTS:
        near = min(THROUGHPUTS, key=lambda step: abs(step - throughput))
        notes.problem(
            "storage.lustre.throughput",
            f"{throughput} MB/s per TiB is not allowed; did you mean {near}? "
            f"(allowed: {', '.join(map(str, THROUGHPUTS))})",
        )
    return throughput


def _check_metadata_iops(notes: Notes, asked: LustreSpec, persistent: bool) -> None:
    iops = asked.metadata_iops
    if iops is None:
        return
    if not persistent:
        notes.problem("storage.lustre.metadata_iops", "only persistent-2 takes metadata IOPS")
    elif iops not in _METADATA_IOPS:
        near = min(_METADATA_IOPS, key=lambda step: abs(step - iops))
        notes.problem(
            "storage.lustre.metadata_iops",
            f"{iops} is not allowed; did you mean {near}? (allowed: 1500, 3000, 6000, 12000, then "
            "steps of 12000 to 192000)",
        )


def _check_efa_client(notes: Notes, instance: InstanceType | None) -> None:
    if instance and not instance.lustre_efa_client:
        notes.problem(
            "storage.lustre.efa",
            f"{instance.name} cannot use EFA-enabled Lustre: clients are EFA types of Nitro v4 or "
            "later, without trn2; set efa to false",
        )


def _check_capacity(notes: Notes, asked: LustreSpec, efa_throughput: int | None) -> None:
    capacity = asked.capacity_gib
    sizes = efa_sizes(efa_throughput) or SSD_SIZES
    smallest, step = sizes.first[0], sizes.step
    if sizes.has(capacity):
        return
    below = capacity // step * step or smallest
    above = (capacity // step + 1) * step
    near = below if capacity - below <= above - capacity else above
    ladder = f"multiples of {step}" + ("" if smallest == step else f", or {smallest}")
    over = f" over EFA at {efa_throughput} MB/s per TiB" if efa_throughput else ""
    notes.problem(
        "storage.lustre.capacity_gib",
        f"{capacity} GiB is not allowed{over}; did you mean {near}? (allowed: {ladder})",
    )

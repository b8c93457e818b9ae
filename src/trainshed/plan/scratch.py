"""Scratch space of a node, as its first boot mounts it: the instance store, or volumes of EBS."""

from dataclasses import dataclass

from trainshed.catalogue import InstanceType
from trainshed.catalogue.ebs import (
    DEVICE_NAMES,
    GP3_IOPS_FOR_EACH_MIB,
    GP3_THROUGHPUT,
    IO2_IOPS_ON_XEN,
    IO2_MIB_FOR_EACH_IOPS,
    VOLUME_LIMITS,
    ebs_throughput,
)
from trainshed.nodes.folders import SCRATCH
from trainshed.plan.notes import Notes, origin
from trainshed.spec import EbsScratchSpec, VolumeType

_EBS = "instance.scratch.ebs"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchVolumes:
    """The encrypted volumes of EBS that become the scratch space of a node, all alike.

    Attributes:
        type: of each.
        count: of one node.
        gib: the size of each.
        iops: of each.
        throughput: of each, in MiB/s; that of io2 follows from its IOPS.
    """

    type: VolumeType
    count: int
    gib: int
    iops: int
    throughput: int

    @property
    def device_names(self) -> tuple[str, ...]:
        """Where the launch template puts them, and how a node recognises them."""
        return DEVICE_NAMES[: self.count]

    @property
    def words(self) -> str:
        """For instance `2 x gp3 of 1000 GiB`."""
        return f"{self.count} x {self.type} of {self.gib} GiB"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchPlan:
    """Scratch space.

    Attributes:
        path: where nodes and containers see it.
        volumes: that it is made of; None where it is the instance store.
    """

    path: str
    volumes: ScratchVolumes | None


def plan_scratch(notes: Notes, instance: InstanceType) -> ScratchPlan | None:
    """Return a node's scratch space, or None where it has none."""
    asked = notes.spec.instance.scratch
    if instance.local_storage_gb:
        if asked:
            notes.problem(
                "instance.scratch",
                f"{instance.name} has an instance store of {instance.local_storage_gb} GB, which "
                f"is {SCRATCH}; leave it out",
            )
        notes.decide(
            "scratch space",
            f"{SCRATCH}, {instance.local_storage_gb} GB",
            "the instance store of each node, which every user may write; it is lost with the node",
        )
        return ScratchPlan(path=SCRATCH, volumes=None)
    if asked is None:
        notes.decide(
            "scratch space",
            "none",
            f"{instance.name} has no instance store; {_EBS} gives nodes volumes for it",
        )
        return None
    _check(notes, asked.ebs, instance)
    volumes = _volumes(asked.ebs, instance)
    notes.decide(
        "scratch space",
        f"{SCRATCH}, {volumes.count * volumes.gib} GiB",
        "volumes of EBS of each node, which every user may write; they are deleted with the node",
    )
    _decide_volumes(notes, asked.ebs, volumes, instance)
    return ScratchPlan(path=SCRATCH, volumes=volumes)


def _check(notes: Notes, asked: EbsScratchSpec, instance: InstanceType) -> None:
    """Note what EBS would refuse, and what the type does not reach."""
    limits, name = VOLUME_LIMITS[asked.type], asked.type
    if asked.gib < limits.gib[0]:
        notes.problem(
            f"{_EBS}.gib",
            f"{asked.gib} is not allowed: a volume of {name} has {limits.gib[0]} GiB at least",
        )
    if asked.iops and asked.iops < limits.iops[0]:
        notes.problem(
            f"{_EBS}.iops",
            f"{asked.iops} is not allowed: each volume of {name} has {limits.iops[0]}; give that "
            "or more, or leave it out",
        )
    for field, value, of_each in (
        ("gib", asked.gib, limits.gib[1]),
        ("iops", asked.iops or 0, _iops_of_each(asked, instance)),
    ):
        most = len(DEVICE_NAMES) * of_each
        if value > most:
            notes.problem(
                f"{_EBS}.{field}",
                f"{value} is not allowed: {len(DEVICE_NAMES)} volumes, the most of a node, have "
                f"{most}; give that or less",
            )
    if asked.throughput:
        _check_throughput(notes, asked.throughput, asked.iops, instance)
    _check_ratio(notes, asked, max(limits.iops[0], asked.gib * limits.iops_for_each_gib))


def _check_throughput(
    notes: Notes, throughput: int, iops: int | None, instance: InstanceType
) -> None:
    of_type = ebs_throughput(instance)
    if throughput > max(of_type, GP3_THROUGHPUT):
        notes.problem(
            f"{_EBS}.throughput",
            f"{throughput} is not allowed: {instance.name} moves {of_type} MiB/s to and from all "
            f"of its volumes ({instance.ebs_mbps} Mbps); give "
            + (f"{of_type} or less" if of_type >= GP3_THROUGHPUT else f"{GP3_THROUGHPUT}"),
        )
    if iops and throughput * GP3_IOPS_FOR_EACH_MIB > iops:
        notes.problem(
            f"{_EBS}.throughput",
            f"{throughput} is not allowed: gp3 has 0.25 MiB/s for each IOPS at most; give "
            f"{iops // GP3_IOPS_FOR_EACH_MIB} or less, or iops of "
            f"{throughput * GP3_IOPS_FOR_EACH_MIB} or more",
        )


def _check_ratio(notes: Notes, asked: EbsScratchSpec, most: int) -> None:
    ratio, iops = VOLUME_LIMITS[asked.type].iops_for_each_gib, _iops(asked)
    if iops <= most:
        return
    limit = f"{asked.type} has {ratio} IOPS for each GiB at most, {most} for {asked.gib}"
    larger = f"gib of {-(-iops // ratio)} or more"
    if asked.iops:
        message = f"{iops} is not allowed: {limit}; give {most} or less, or {larger}"
        notes.problem(f"{_EBS}.iops", message)
    else:
        notes.problem(
            f"{_EBS}.throughput",
            f"{asked.throughput} is not allowed: it needs {iops} IOPS, and {limit}; give "
            f"{most // GP3_IOPS_FOR_EACH_MIB} or less, or {larger}",
        )


def _iops(asked: EbsScratchSpec) -> int:
    """Return the IOPS that the volumes must have together, beside what each has."""
    return asked.iops or (asked.throughput or 0) * GP3_IOPS_FOR_EACH_MIB


def _iops_of_each(asked: EbsScratchSpec, instance: InstanceType) -> int:
    """Return the most IOPS that one volume reaches."""
    on_xen = instance.xen and asked.type is VolumeType.IO2
    return IO2_IOPS_ON_XEN if on_xen else VOLUME_LIMITS[asked.type].iops[1]


def _volumes(asked: EbsScratchSpec, instance: InstanceType) -> ScratchVolumes:
    """Divide what is asked among as few volumes as can have it."""
    limits = VOLUME_LIMITS[asked.type]
    count = max(
        -(-asked.gib // limits.gib[1]),
        -(-_iops(asked) // _iops_of_each(asked, instance)),
        -(-(asked.throughput or 0) // limits.throughput),
    )
    iops = max(limits.iops[0], -(-_iops(asked) // count))
    if asked.type is VolumeType.IO2:
        throughput = min(limits.throughput, int(iops * IO2_MIB_FOR_EACH_IOPS))
    else:
        throughput = max(GP3_THROUGHPUT, -(-(asked.throughput or 0) // count))
        iops = max(iops, throughput * GP3_IOPS_FOR_EACH_MIB)
    return ScratchVolumes(
        type=asked.type,
        count=count,
        gib=-(-asked.gib // count),
        iops=iops,
        throughput=throughput,
    )


def _decide_volumes(
    notes: Notes, asked: EbsScratchSpec, volumes: ScratchVolumes, instance: InstanceType
) -> None:
    limits = VOLUME_LIMITS[asked.type]
    notes.decide(
        "scratch volumes",
        f"{volumes.words}, encrypted",
        f"type: {origin(asked, 'type')}; the fewest that have what is asked: one has "
        f"{limits.gib[1]} GiB, {_iops_of_each(asked, instance)} IOPS and {limits.throughput} "
        "MiB/s at most",
    )
    of_type = ebs_throughput(instance)
    together = volumes.count * volumes.throughput
    if asked.type is VolumeType.IO2:
        reason = "as asked; the throughput follows from the IOPS"
    elif asked.throughput:
        reason = "as asked"
    else:
        reason = f"what each gp3 volume has; {_EBS}.throughput gives more"
    notes.decide(
        "scratch speed",
        f"{min(together, of_type)} MiB/s, {volumes.count * volumes.iops} IOPS",
        f"{reason}; {instance.name} moves {of_type} MiB/s to and from all of its volumes",
    )

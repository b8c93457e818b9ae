"""The root volume of a node: how large it is, and how fast."""

from dataclasses import dataclass

from trainshed.catalogue import InstanceType
from trainshed.catalogue.ebs import GP3_IOPS, GP3_IOPS_FOR_EACH_MIB, GP3_THROUGHPUT, ebs_throughput
from trainshed.orchestrators import traits
from trainshed.plan.notes import Notes, origin

# Container images of tens of GB take minutes to pull and unpack at gp3's own speed. Twice as much
# would be faster than registries send and a node unpacks.
_FAST_THROUGHPUT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RootVolumePlan:
    """An encrypted gp3 volume.

    Attributes:
        gib: its size.
        throughput: in MiB/s, at least `GP3_THROUGHPUT`, which each has.
        iops: at least `GP3_IOPS`, which each has.
    """

    gib: int
    throughput: int
    iops: int


def plan_root_volume(notes: Notes, instance: InstanceType) -> RootVolumePlan:
    """Plan the root volume: fast where nodes pull container images, as far as the type can be."""
    asked = notes.spec.instance
    size = f"{asked.root_gib} GiB, encrypted gp3"
    notes.decide("root volume", size, origin(asked, "root_gib"))
    throughput, reason = GP3_THROUGHPUT, "what each gp3 volume has; nodes pull no container image"
    if traits(notes.spec.orchestrator).in_containers:
        throughput = max(GP3_THROUGHPUT, min(_FAST_THROUGHPUT, ebs_throughput(instance)))
        reason = "each node pulls the container image and unpacks it there"
        if throughput < _FAST_THROUGHPUT:
            reason += f"; {instance.name} has {instance.ebs_mbps} Mbps for EBS"
    iops = max(GP3_IOPS, throughput * GP3_IOPS_FOR_EACH_MIB)
    notes.decide("root volume speed", f"{throughput} MiB/s, {iops} IOPS", reason)
    return RootVolumePlan(gib=asked.root_gib, throughput=throughput, iops=iops)

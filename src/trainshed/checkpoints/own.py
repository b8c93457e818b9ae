"""The storages that a cluster has for its checkpoints, and how fast it writes to each."""

from collections.abc import Iterator
from dataclasses import dataclass

from trainshed.catalogue.ebs import ebs_throughput
from trainshed.checkpoints.checkpoint import GB_PER_GIB, Checkpoint
from trainshed.checkpoints.storages import MBPS_PER_MIBPS, Clients, Efs, Lustre, Offer, OpenZfs
from trainshed.plan import BucketPlan, ClusterPlan, EfsPlan, LustrePlan, OpenZfsPlan
from trainshed.spec import BucketAccess, EfsSpec, LustreSpec, OpenZfsSpec

_LOST_WITH_NODES = "of each node, lost with it: copy checkpoints elsewhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownSpeed:
    """A storage of the cluster of which nobody knows here how fast it is.

    Attributes:
        storage: what it is.
        size: of it.
        why: it is not known, and how to find out.
    """

    storage: str
    size: str
    why: str


def clients_of(plan: ClusterPlan) -> Clients:
    """Return the nodes of the largest job."""
    return Clients(
        nodes=plan.nodes.max,
        gbps=plan.instance.network_gbps,
        lustre_efa=plan.lustre_efa_interfaces > 0,
        region=plan.region,
    )


def own_offers(plan: ClusterPlan, checkpoint: Checkpoint) -> tuple[Offer, ...]:
    """Return the file systems that the cluster makes and all nodes share, the fastest first."""
    clients, offers = clients_of(plan), []
    for storage in plan.storages:
        match storage:
            case LustrePlan(new=LustreSpec() as new):
                kind = Lustre(deployment=new.deployment, throughput=new.throughput)
                offers.append(kind.sized(new.capacity_gib, clients))
            case EfsPlan(new=EfsSpec()):
                # It has no size, so that it does not matter how little may be lost.
                offers.append(Efs().smallest(checkpoint, clients, lost=1))
            case OpenZfsPlan(new=OpenZfsSpec() as size):
                offers.append(OpenZfs().sized(size.capacity_gib, size.throughput, clients))
    return tuple(sorted(offers, key=lambda offer: -offer.mbps))


def scratch_offer(plan: ClusterPlan, checkpoint: Checkpoint) -> Offer | None:
    """Return the EBS volumes that are scratch space, to which each node writes its own part.

    A first boot makes one striped array of them (RAID 0), so that their throughputs add up.
    """
    volumes = plan.scratch and plan.scratch.volumes
    if not volumes:
        return None
    nodes, of_node = plan.nodes.max, volumes.count * volumes.gib
    mibps = min(volumes.count * volumes.throughput, ebs_throughput(plan.instance))
    full = nodes * of_node * GB_PER_GIB < checkpoint.gb
    return Offer(
        storage=f"scratch volumes, EBS {volumes.type}",
        size=f"{nodes} x {of_node} GiB",
        mbps=nodes * mibps * MBPS_PER_MIBPS,
        gib=None,
        units={},
        replicated=False,
        remark=_LOST_WITH_NODES + ("; one does not fit" if full else ""),
    )


def unknown_speeds(plan: ClusterPlan) -> Iterator[UnknownSpeed]:
    """Yield the storages of the cluster of which nobody knows here how fast they are."""
    for storage in plan.storages:
        if isinstance(storage, BucketPlan):
            if storage.access is not BucketAccess.READ:
                yield UnknownSpeed(
                    storage=storage.title,
                    size="as used",
                    why="AWS states no speed of uploads: measure it, several at a time are faster; "
                    "by S3's API, as a mount takes no writes",
                )
        elif storage.existing:
            yield UnknownSpeed(
                storage=storage.title,
                size=storage.existing,
                why="trainshed preflight asks AWS, and warns if it is slow (TS-ACC-068)",
            )
    if plan.scratch and not plan.scratch.volumes:
        yield UnknownSpeed(
            storage="instance store",
            size=f"{plan.nodes.max} x {plan.instance.local_storage_gb} GB",
            why=f"AWS states its IOPS, and no throughput: measure it; {_LOST_WITH_NODES}",
        )

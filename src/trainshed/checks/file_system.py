"""What rules on a new Lustre file system share."""

from trainshed.plan import ClusterPlan, LustrePlan
from trainshed.plan.storage import SCRATCH_THROUGHPUT


def new_file_system(plan: ClusterPlan) -> LustrePlan | None:
    """Return the file system that the cluster makes; what an existing one is, nobody knows here."""
    return plan.lustre if plan.lustre and not plan.lustre.spec.existing else None


def sustained_throughput(lustre: LustrePlan) -> int:
    """Return what FSx lets clients write all the time, in MB/s."""
    spec = lustre.spec
    return spec.capacity_gib * (spec.throughput or SCRATCH_THROUGHPUT) // 1024

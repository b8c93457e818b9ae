"""What rules on a new Lustre file system share."""

from trainshed.catalogue import lustre as fsx
from trainshed.plan import ClusterPlan
from trainshed.spec import LustreSpec


def new_file_system(plan: ClusterPlan) -> LustreSpec | None:
    """Return the file system that the cluster makes; what an existing one is, nobody knows here."""
    return plan.lustre.new if plan.lustre else None


def sustained_throughput(lustre: LustreSpec) -> int:
    """Return what FSx lets clients write all the time, in MB/s."""
    return fsx.sustained_throughput(
        lustre.capacity_gib, lustre.throughput or fsx.SCRATCH_THROUGHPUT
    )

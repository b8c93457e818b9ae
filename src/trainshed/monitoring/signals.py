"""Which metrics the nodes of a cluster send."""

from trainshed.metrics import AcceleratorMetrics, Metric, accelerator_metrics, sent_metrics
from trainshed.nodes.cells import Cell
from trainshed.plan import ClusterPlan


def signals_of(plan: ClusterPlan) -> AcceleratorMetrics | None:
    """Return how the accelerators of a cluster say how they are; None where nothing tells."""
    if not plan.ami.cell:
        return None
    cell = Cell(plan.ami.cell)
    return accelerator_metrics(cell.accelerator, cell.agent)


def sent_of(plan: ClusterPlan) -> tuple[Metric, ...]:
    """Return what each node of a cluster sends: nothing where no AMI of ours is made for it."""
    if not plan.ami.cell:
        return ()
    cell = Cell(plan.ami.cell)
    return sent_metrics(cell.accelerator, cell.agent, efa=has_efa(plan))


def has_efa(plan: ClusterPlan) -> bool:
    """Whether the nodes of a cluster have EFA devices."""
    return bool(plan.devices.get("efa"))

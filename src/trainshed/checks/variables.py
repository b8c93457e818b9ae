"""What rules on `job.environment` share: a variable that was asked for, and where it stands."""

from trainshed.documents.problems import Path
from trainshed.plan import ClusterPlan

CHEATSHEET = (
    "https://github.com/awslabs/awsome-distributed-ai/blob/main/architectures/efa-cheatsheet.md"
)
HCCL_DEMO = "https://github.com/HabanaAI/hccl_demo"
# Values of a switch that leave it off.
OFF = ("", "0")


def asked_variable(plan: ClusterPlan, name: str) -> str | None:
    """Return the value that the cluster file gives a variable; None when it gives none."""
    return plan.asked_environment.get(name)


def variable_path(name: str) -> Path:
    """Return where a variable stands in the cluster file."""
    return ("job", "environment", name)


def has_efa(plan: ClusterPlan) -> bool:
    """Whether the nodes have EFA interfaces."""
    return bool(plan.devices.get("efa"))

"""Whether traffic between nodes uses EFA."""

from collections.abc import Iterator

from trainshed.ami.channel import names_a_channel
from trainshed.checks.rule import Basis, Violation, rule
from trainshed.plan import BatchPlan, ClusterPlan


@rule(
    "TS-EFA-001",
    title="A job may open a verbs device that is not EFA",
    why="""
Containers get `/dev/infiniband/uverbs0` to `uverbsN`, one for each EFA interface. Types with
NVIDIA's own network cards have further verbs devices; when the module `mlx5_ib` is loaded
first, those take the first numbers, and libfabric goes over TCP without saying so.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/efa.html",),
    example="""
name: Example
region: us-west-2
instance: {type: p6-b200.48xlarge, ami: ami-0123456789abcdef0}
""",
)
def other_verbs_devices(plan: ClusterPlan) -> Iterator[Violation]:
    """An AMI of somebody else's may number EFA's devices after others."""
    instance = plan.instance
    efa_devices = sum(row.kind.has_efa for row in plan.interfaces)
    ours = names_a_channel(plan.ami.asked)
    if not isinstance(plan.orchestrator, BatchPlan) or ours or not efa_devices:
        return
    if instance.other_verbs_devices:
        yield Violation(
            path=("instance", "ami"),
            message=f"{instance.name} has {instance.other_verbs_devices} verbs devices that are "
            f"not EFA, and {plan.ami.asked} is not one of our channels: a job opens "
            f"/dev/infiniband/uverbs0 to uverbs{efa_devices - 1}, and may get one of those instead",
            remedy="use ami: stable, or an AMI that loads the module efa before mlx5_ib (softdep "
            "mlx5_ib pre: efa, in /etc/modprobe.d)",
        )

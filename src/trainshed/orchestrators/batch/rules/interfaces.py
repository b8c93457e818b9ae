"""Whether the interface of a job finds its place on a node."""

from collections.abc import Iterator

from trainshed.ami.channel import names_a_channel
from trainshed.checks import clusters
from trainshed.findings import Basis, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.plan import ClusterPlan


@rule(
    "TS-EFA-001",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="A job may open a verbs device that is not EFA",
    why="""
Containers get `/dev/infiniband/uverbs0` to `uverbsN`, one for each EFA interface. Types with
NVIDIA's own network cards have further verbs devices; when the module `mlx5_ib` is loaded
first, those take the first numbers, and libfabric goes over TCP without saying so.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/efa.html",),
    example="instance: {type: p6-b200.48xlarge, ami: ami-0123456789abcdef0}",
)
def other_verbs_devices(plan: ClusterPlan) -> Iterator[Violation]:
    """An AMI of somebody else's may number EFA's devices after others."""
    instance = plan.instance
    efa_devices = sum(row.kind.has_efa for row in plan.interfaces)
    ours = names_a_channel(plan.ami.asked)
    if ours or not efa_devices:
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


@rule(
    "TS-EFA-004",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="The layout may leave no device index to the interface of a job",
    why="""
Each node of a multi-node job gets a network interface of its own on card 0. No document says
which device index: the lowest that is free on that card, or the lowest that no interface of the
node has. By the second reading, a layout that uses index 1 on other cards leaves index 2, which
a card of two slots does not have; the job would then wait in `STARTING`. `batch-mnp` works by
both readings.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-eni.html",
    ),
    example="instance: {type: p5.48xlarge, nodes: {max: 2}, interfaces: eks}",
)
def no_index_for_the_job(plan: ClusterPlan) -> Iterator[Violation]:
    """The job's interface should find a device index by any reading."""
    if not plan.job_interface:
        return
    used = {row.device for row in plan.interfaces}
    lowest_free = min(set(range(len(used) + 1)) - used)
    slots = plan.instance.network_cards[0].slots
    if lowest_free >= slots:
        yield Violation(
            path=("instance", "interfaces"),
            message=f"profile {plan.profile} uses the device indexes 0 to {lowest_free - 1} of "
            f"{plan.instance.name}, whose cards have {slots} slots: the interface of a multi-node "
            "job may find none",
            remedy="leave instance.interfaces out, or set it to batch-mnp",
        )

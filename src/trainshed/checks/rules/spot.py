"""What it means that EC2 may take nodes back."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Basis, Violation, rule
from trainshed.plan import CapacityKind, ClusterPlan

_INTERRUPTIONS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-interruptions.html"


@rule(
    "TS-CAP-014",
    over=clusters,
    title="A job of several nodes ends when EC2 takes one of them back",
    why="""
Nodes on Spot are in one zone, and of one type unless `capacity.instance_types` has others, so that
EC2 takes them from few pools. When it takes one back, the job ends on all nodes; the others wait
for one in its place, and are billed meanwhile. A job has two minutes for a last checkpoint.
""",
    basis=Basis.INFERRED,
    sources=(_INTERRUPTIONS,),
    example="""
orchestrator: ec2
instance: {type: trn1.32xlarge, nodes: {max: 4}}
capacity: {spot: {}}
""",
)
def shared_job(plan: ClusterPlan) -> Iterator[Violation]:
    """Jobs over several nodes do not survive the loss of one."""
    if plan.capacity.kind is not CapacityKind.SPOT or plan.nodes.max == 1:
        return
    yield Violation(
        path=("capacity", "spot"),
        message=f"a job on {plan.nodes.max} Spot nodes ends when EC2 takes back one of them, "
        "and can go on from its last checkpoint",
        remedy="write checkpoints often, and one on SIGTERM; for a run that must end in time, buy "
        "on demand or a Capacity Block",
    )

"""What jobs reach in the network of their node."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Severity, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.batch.plan import BatchPlan
from trainshed.plan import ClusterPlan


@rule(
    "TS-BAT-017",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="Jobs reach the role of their node",
    severity=Severity.INFO,
    why="""
On Spot AWS Batch runs jobs of one container, which has the network of its node. So it reaches the
instance metadata service, and there the credentials of the node's role. That role reads what nodes
boot with, pulls images, writes logs, and does what an ECS agent does in clusters `AWSBatch-*` of
the account, for instance takes nodes out of them.
""",
    sources=(
        "https://docs.aws.amazon.com/batch/latest/userguide/networking-modes-jobs.html",
        "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/networking-networkmode-host.html",
    ),
    example="""
instance: {type: trn1.32xlarge, nodes: {max: 1}}
capacity: {spot: {}}
""",
)
def reached_role(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever lets others submit jobs should know what these may do."""
    assert isinstance(plan.jobs, BatchPlan)
    if not plan.jobs.multi_node:
        yield Violation(
            path=("capacity", "spot"),
            message="jobs have the network of their node, and reach the credentials of its role",
            remedy="let only those submit jobs whom you trust with that role (docs/security.md), "
            "or buy on demand",
        )

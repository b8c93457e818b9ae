"""Whether nodes take jobs, and when AWS Batch launches them."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.plan import CapacityKind, ClusterPlan

# AWS's public parameters of AMIs without an ECS agent. Others may have one: Bottlerocket's aws-ecs
# variants do, and of AMIs in the Marketplace nothing is known.
_WITHOUT_ECS_AGENT = (
    "/aws/service/ami-amazon-linux-latest/",
    "/aws/service/bottlerocket/aws-k8s-",
    "/aws/service/canonical/",
    "/aws/service/debian/",
    "/aws/service/deeplearning/",
    "/aws/service/eks/",
    "/aws/service/neuron/",
)


@rule(
    "TS-AMI-004",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="The AMI has no ECS agent, so its nodes take no job",
    severity=Severity.ERROR,
    why="""
AWS Batch runs jobs through the ECS agent, which an AMI must have. AWS's plain AMIs, its Deep
Learning and Neuron AMIs and those for EKS have none: nodes start, never join the cluster, and are
billed while jobs wait in `RUNNABLE`.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/batch-ami-spec.html",),
    example="""
instance:
  type: trn1.32xlarge
  ami: /aws/service/neuron/dlami/base/amazon-linux-2023/latest/image_id
""",
)
def no_ecs_agent(plan: ClusterPlan) -> Iterator[Violation]:
    """Nodes of AWS Batch need the ECS agent."""
    asked = plan.ami.asked
    if asked.startswith(_WITHOUT_ECS_AGENT):
        yield Violation(
            path=("instance", "ami"),
            message=f"{asked} is an AMI of AWS without an ECS agent: its nodes never join the "
            "cluster, and jobs wait forever",
            remedy="use ami: stable, or bake an AMI that has the agent: trainshed ami build",
        )


@rule(
    "TS-CAP-003",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="Nodes are kept on a Capacity Block, which exists only for a time",
    why="""
With `instance.nodes.min`, AWS Batch keeps that many nodes at all times. Before the block begins
and after it ends each launch fails, and AWS Batch tries again and again; it may turn the compute
environment `INVALID`. The block is paid in advance, so a node that waits for a job saves only the
minutes of its boot.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html",),
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {min: 2, max: 4}}
capacity: {capacity_block: cr-0123456789abcdef0}
""",
)
def nodes_kept_on_a_block(plan: ClusterPlan) -> Iterator[Violation]:
    """AWS Batch should launch into a Capacity Block only for jobs."""
    nodes, capacity = plan.nodes.min, plan.capacity
    block = "each window" if capacity.calendar else capacity.target
    in_block = capacity.kind is CapacityKind.CAPACITY_BLOCK or capacity.calendar
    if in_block and nodes:
        yield Violation(
            path=("instance", "nodes", "min"),
            message=f"AWS Batch keeps {nodes} nodes at all times, but {block} begins at one time "
            "and ends at another: outside of it launches fail",
            remedy="set instance.nodes.min to 0; jobs that are submitted before the block begins "
            "wait for it",
        )

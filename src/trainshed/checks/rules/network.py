"""Whether jobs reach each other, and what they need."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import ClusterPlan


@rule(
    "TS-NET-003",
    over=clusters,
    title="An existing subnet must reach what nodes need",
    why="""
Nodes have no public address, so the subnet must be a private one whose routes lead to AWS's APIs
through a NAT gateway or endpoints, and the VPC must resolve names. Otherwise nodes boot, are
billed, and never take a job: they cannot join their cluster, cannot pull the image, or cannot tell
CloudFormation that they have booted, which undoes the deployment.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html",
        "https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",
    ),
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 2}}
network: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0}
""",
)
def existing_subnet_reaches(plan: ClusterPlan) -> Iterator[Violation]:
    """An existing subnet leads to the services that nodes call."""
    network = plan.network
    if network.subnet_id is None:
        return
    yield Violation(
        path=("network", "subnet"),
        message=f"nothing here says whether {network.subnet_id} reaches the services "
        f"{', '.join(plan.services)}, and whether {network.vpc_id} resolves names",
        remedy="check that it is private, with a route to a NAT gateway or endpoints for them, and "
        "that the VPC has enableDnsSupport and enableDnsHostnames (docs/networks.md)",
    )

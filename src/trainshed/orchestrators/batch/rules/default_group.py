"""The default security group of the VPC, which has the interfaces of jobs."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Basis, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.plan import ClusterPlan
from trainshed.plan.network import JOB_RULES

_DEFAULT_GROUP = """
The launch template has network interfaces of its own, so the compute environment cannot name
security groups, and AWS Batch gives the interface of a multi-node job's container the default
security group of the VPC. That group must let the containers of a job reach each other, and
reach AWS's APIs by TCP 443.
"""
_SOURCES = ("https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",)


@rule(
    "TS-NET-001",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="Multi-node jobs use the default security group of an existing VPC as it is",
    why=_DEFAULT_GROUP
    + """
Many organisations empty the default group: then the nodes of a job never find each other, and
the job hangs.
""",
    basis=Basis.INFERRED,
    sources=_SOURCES,
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge}
network: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0}
""",
)
def default_group_as_it_is(plan: ClusterPlan) -> Iterator[Violation]:
    """The default group of an existing VPC must have the rules that jobs need."""
    network = plan.network
    unnamed = network.vpc_id and network.default_security_group_id is None
    if unnamed and plan.traits.uses_default_group:
        yield Violation(
            path=("network", "vpc"),
            message=f"multi-node jobs use the default security group of {network.vpc_id}, and "
            f"nothing here adds the rules that they need ({JOB_RULES})",
            remedy="give network.default_security_group to have them added, or make sure that it "
            "has them",
        )


@rule(
    "TS-NET-002",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
    title="Rules are added to the default security group of an existing VPC",
    why=_DEFAULT_GROUP
    + """
The missing rules are added, and apply to everything else in that group, too.
""",
    basis=Basis.INFERRED,
    sources=_SOURCES,
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge}
network:
  vpc: vpc-0123456789abcdef0
  subnet: subnet-0123456789abcdef0
  default_security_group: sg-0123456789abcdef0
""",
)
def default_group_is_changed(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever owns the default group should know that it is changed."""
    network = plan.network
    group = network.default_security_group_id
    if group:
        yield Violation(
            path=("network", "default_security_group"),
            message=f"rules are added to {group}, the default security group of {network.vpc_id}, "
            f"where they are missing ({JOB_RULES}), and apply to everything else in that group",
            remedy="look at what uses the group before you deploy, and let no policy of your "
            "organisation remove them (docs/networks.md)",
        )

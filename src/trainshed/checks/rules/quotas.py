"""What the account must allow: vCPUs, VPCs, Elastic IPs, network interfaces and volumes."""

from collections.abc import Iterator

from trainshed.catalogue import increase_command, quota_for
from trainshed.catalogue.quotas import (
    ELASTIC_IPS,
    GP3_STORAGE,
    IO2_IOPS,
    IO2_STORAGE,
    NETWORK_INTERFACES,
    VPCS,
)
from trainshed.checks import ClusterInFleet, clusters
from trainshed.checks.neighbours import names_of_others, neighbours
from trainshed.checks.quota_needs import interfaces_per_node, quota_needs, scratch_gib
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import ClusterPlan
from trainshed.spec import VolumeType

_VPC_QUOTAS = "https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html"
# VPC user guide, "Amazon VPC quotas".
_VPCS_BY_DEFAULT = 5
_INTERFACES_BY_DEFAULT = 5000
# AWS General Reference, "Amazon EBS endpoints and quotas".
_GP3_TIB_BY_DEFAULT = 50
_IO2_TIB_BY_DEFAULT = 20
_IO2_IOPS_BY_DEFAULT = 100_000


@rule(
    "TS-QUO-001",
    over=clusters,
    title="The quota of vCPUs must cover every node",
    why="""
EC2 launches no more instances than the account's quota of vCPUs for their family allows, one quota
on demand and another on Spot, which often are 0 in a new account. All nodes of a job launch at
once, so a quota for only some of them does not help: the job waits in `RUNNABLE`. AWS may take days
to grant a larger one. Instances of Capacity Blocks do not count.
""",
    severity=Severity.INFO,
    sources=("https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html",),
    example="instance: {type: trn1.32xlarge, nodes: {max: 16}}",
)
def vcpus(plan: ClusterPlan, cluster: ClusterInFleet) -> Iterator[Violation]:
    """The account must have the vCPUs of every cluster's largest job."""
    quota = quota_for(plan.instance, plan.capacity.kind)
    if quota is None:
        return
    users = [
        each
        for each in neighbours(plan, cluster.fleet)
        if quota_for(each.instance, each.capacity.kind) == quota
    ]
    # Once for all of them.
    if users[0].name != plan.name:
        return
    nodes = plan.nodes.max
    total = quota_needs(users)[quota]
    others = names_of_others(plan, users)
    together = f"; with {others}, {total} at once" if others else ""
    yield Violation(
        path=("instance", "nodes", "max"),
        message=f"{nodes} x {plan.instance.vcpus} vCPUs of {plan.instance.name} need "
        f"{plan.vcpus} of the quota {quota.name!r} ({quota.code}){together}",
        remedy="if the account has less, ask for it before you deploy: "
        f"{increase_command(quota, total, plan.region)}",
    )


@rule(
    "TS-QUO-002",
    over=clusters,
    title="New VPCs count against quotas that are 5 by default",
    why="""
A network that trainshed makes is a VPC, and has an Elastic IP and a NAT gateway in each zone in
use. An account may have 5 VPCs and 5 Elastic IPs in a region by default, the VPC that AWS made in
it among them; a stack that needs a sixth fails, and is rolled back.
""",
    severity=Severity.INFO,
    sources=(_VPC_QUOTAS,),
    example="""
instance: {type: trn1.32xlarge, nodes: {max: 2}}
network: {cidr: 10.30.0.0/16}
""",
)
def vpcs(plan: ClusterPlan, cluster: ClusterInFleet) -> Iterator[Violation]:
    """The account must have room for the VPCs and Elastic IPs of all clusters."""
    makers = [each for each in neighbours(plan, cluster.fleet) if not each.network.vpc_id]
    # Once for all of them.
    if not makers or makers[0].name != plan.name:
        return
    needs = quota_needs(makers)
    new, addresses = needs[VPCS], needs[ELASTIC_IPS]
    names = ", ".join(each.name for each in makers)
    yield Violation(
        path=("network",),
        message=f"new in {plan.region} for {names}: VPCs: {new}, Elastic IPs: {addresses}; an "
        f"account may have {_VPCS_BY_DEFAULT} of each there by default, including those that exist",
        remedy="if that is too few, let clusters share a network (network.name), use an existing "
        "VPC, or ask for more: "
        f"{increase_command(VPCS, _VPCS_BY_DEFAULT + new, plan.region)}; "
        f"{increase_command(ELASTIC_IPS, _VPCS_BY_DEFAULT + addresses, plan.region)}",
    )


@rule(
    "TS-QUO-003",
    over=clusters,
    title="The nodes have more network interfaces than an account may have by default",
    why="""
A region of an account has at most 5,000 network interfaces by default, and a type with many
network cards reaches that with few nodes: 160 of p5.48xlarge have 32 each, and their jobs one
more. What launches after that is refused.
""",
    basis=Basis.INFERRED,
    sources=(_VPC_QUOTAS,),
    example="instance: {type: p5.48xlarge, nodes: {max: 160}}",
)
def network_interfaces(plan: ClusterPlan, cluster: ClusterInFleet) -> Iterator[Violation]:
    """The account must have room for every interface of every node."""
    here = neighbours(plan, cluster.fleet)
    per_node, nodes = interfaces_per_node(plan), plan.nodes.max
    total = quota_needs(here)[NETWORK_INTERFACES]
    others = names_of_others(plan, here)
    together = f", and {total} with {others}" if others else ""
    if total > _INTERFACES_BY_DEFAULT:
        yield Violation(
            path=("instance", "nodes", "max"),
            message=f"{nodes} nodes have {per_node} network interfaces each, {nodes * per_node} in "
            f"all{together}; an account may have {_INTERFACES_BY_DEFAULT} in a region by default",
            remedy="if the account's quota is lower, ask for more: "
            f"{increase_command(NETWORK_INTERFACES, total, plan.region)}",
        )


@rule(
    "TS-QUO-004",
    over=clusters,
    title="The gp3 volumes of all nodes are larger than an account may have by default",
    why="""
A region of an account has at most 50 TiB of gp3 volumes by default, and each node has a root
volume of `instance.root_gib`, and those of `instance.scratch.ebs`. EC2 terminates an instance at
once when its volumes have no room.
""",
    sources=("https://docs.aws.amazon.com/general/latest/gr/ebs-service.html",),
    example="instance: {type: trn1.32xlarge, nodes: {max: 128}, root_gib: 512}",
)
def gp3_volumes(plan: ClusterPlan, cluster: ClusterInFleet) -> Iterator[Violation]:
    """The account must have room for the volumes of every node."""
    here = neighbours(plan, cluster.fleet)
    nodes, root = plan.nodes.max, plan.root_volume.gib
    scratch = scratch_gib(plan, VolumeType.GP3)
    each = f"a root volume of {root} GiB"
    if scratch:
        each += f" and scratch volumes of {scratch} GiB"
    tib = quota_needs(here)[GP3_STORAGE]
    others = names_of_others(plan, here)
    together = f", and {tib} with {others}" if others else ""
    if tib > _GP3_TIB_BY_DEFAULT:
        yield Violation(
            path=("instance", "scratch") if scratch > root else ("instance", "root_gib"),
            message=f"{nodes} nodes, each with {each}, need "
            f"{quota_needs([plan])[GP3_STORAGE]} TiB of gp3{together}; an account may have "
            f"{_GP3_TIB_BY_DEFAULT} in a region by default",
            remedy="take smaller volumes, or if the account's quota is lower, ask "
            f"for more: {increase_command(GP3_STORAGE, tib, plan.region)}",
        )


@rule(
    "TS-QUO-005",
    over=clusters,
    title="The io2 volumes of all nodes are more than an account may have by default",
    why="""
A region of an account has at most 20 TiB of io2 volumes and 100,000 IOPS of them by default, and
each node has those of `instance.scratch.ebs`. EC2 terminates an instance at once when its volumes
have no room.
""",
    sources=("https://docs.aws.amazon.com/general/latest/gr/ebs-service.html",),
    example="""
instance:
  type: p3.16xlarge
  nodes: {max: 8}
  scratch: {ebs: {type: io2, gib: 2000, iops: 64000}}
""",
)
def io2_volumes(plan: ClusterPlan, cluster: ClusterInFleet) -> Iterator[Violation]:
    """The account must have room for the io2 volumes of every node."""
    if not scratch_gib(plan, VolumeType.IO2):
        return
    here = neighbours(plan, cluster.fleet)
    own, needs = quota_needs([plan]), quota_needs(here)
    others = names_of_others(plan, here)
    for quota, unit, by_default in (
        (IO2_STORAGE, "TiB", _IO2_TIB_BY_DEFAULT),
        (IO2_IOPS, "IOPS", _IO2_IOPS_BY_DEFAULT),
    ):
        together = f", and {needs[quota]} with {others}" if others else ""
        if needs[quota] > by_default:
            yield Violation(
                path=("instance", "scratch"),
                message=f"the scratch volumes of {plan.nodes.max} nodes need {own[quota]} {unit} "
                f"of io2{together}; an account may have {by_default} in a region by default",
                remedy="take less for each node, or if the account's quota is lower, ask for more: "
                f"{increase_command(quota, needs[quota], plan.region)}",
            )

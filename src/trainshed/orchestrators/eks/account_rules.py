"""What only the account knows of a cluster of Amazon EKS."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from trainshed.account.deployed_stacks import DeployedStack, find_stack
from trainshed.account.quotas import find_quota
from trainshed.aws import accepting
from trainshed.catalogue import Quota, increase_command
from trainshed.catalogue.kubernetes import SYSTEM_NODES, SYSTEM_TYPE
from trainshed.catalogue.quotas import EKS_CLUSTERS, EKS_NODE_GROUPS, EKS_NODES
from trainshed.findings import Basis, Finding, Severity, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.plan.control_plane import ControlPlanePlan
from trainshed.preflight.launch import LAUNCH_ACTIONS, Launcher, try_launch
from trainshed.preflight.rules.capacity import zones_offering
from trainshed.preflight.subject import Subject, accounts

_CLUSTER, _GROUP = "AWS::EKS::Cluster", "AWS::EKS::Nodegroup"
_QUOTA_ACTIONS = ("servicequotas:GetServiceQuota", "servicequotas:GetAWSDefaultServiceQuota")
_STACK_ACTIONS = ("cloudformation:DescribeStacks", "cloudformation:ListStackResources")
_QUOTAS = ("https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html",)
_API = "https://docs.aws.amazon.com/eks/latest/APIReference"


def _control_plane(subject: Subject) -> ControlPlanePlan:
    found = subject.plan.control_plane
    assert found
    return found


@rule(
    "TS-ACC-090",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    actions=(*LAUNCH_ACTIONS, "eks:DescribeNodegroup"),
)
def launch_is_possible(subject: Subject) -> Iterator[Violation | Finding]:
    """The managed node group can launch the nodes."""
    launcher = Launcher(resource_type=_GROUP, deployed=_deployed, subnets=_subnets)
    return try_launch(subject, launcher)


def _deployed(subject: Subject, stack: DeployedStack) -> tuple[str, Mapping[str, Any]] | None:
    [group_id] = stack.ids(_GROUP)
    cluster, _, group = group_id.partition("/")
    named = {"clusterName": cluster, "nodegroupName": group}
    with accepting("ResourceNotFoundException"):
        found = subject.aws.call("eks", "describe_nodegroup", **named)["nodegroup"]
        # With several, the launch template has none.
        types = found.get("instanceTypes")
        return found["subnets"][0], {"InstanceType": types[0]} if types else {}
    return None


def _subnets(properties: Mapping[str, Mapping[str, Any]]) -> Any:
    return properties[_GROUP]["Subnets"]


@rule(
    "TS-ACC-100",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="A role of kubernetes.access does not exist",
    when="kubernetes.access names a role of the account",
    why="""
EKS refuses an access entry for a role that is not there, and then the control plane is rolled back,
after the ten minutes that its creation took. A role that has a path is named by its ARN. Roles of
other accounts are not asked for.
""",
    actions=("iam:GetRole",),
    sources=(f"{_API}/API_CreateAccessEntry.html",),
    severity=Severity.ERROR,
)
def roles_exist(subject: Subject) -> Iterator[Violation]:
    """IAM has each role, under the ARN that its entry gets."""
    own = subject.aws.call("sts", "get_caller_identity")["Account"]
    for index, entry in enumerate(_control_plane(subject).access):
        arn = entry.role if entry.role.startswith("arn:") else f":{own}:role/{entry.role}"
        _, account, resource = arn.rsplit(":", 2)
        if account != own:
            continue
        path = ("kubernetes", "access", str(index), "role")
        name = resource.rpartition("/")[2]
        role = None
        with accepting("NoSuchEntity"):
            role = subject.aws.call("iam", "get_role", RoleName=name)["Role"]
        if role is None:
            yield Violation(
                path=path,
                message=f"there is no role {name} in account {own}",
                remedy="create it before you deploy, or name another",
            )
        elif role["Arn"].rpartition(":")[2] != resource:
            yield Violation(
                path=path,
                message=f"the role {name} has a path: it is {role['Arn']}",
                remedy=f"name it so: {role['Arn']}",
            )


@rule(
    "TS-ACC-101",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="EKS does not offer the version of Kubernetes, or it has no standard support",
    when="always",
    why="""
What trainshed knows of the versions is of one day; EKS says what it has in the region today. It
refuses to create a cluster of another version, and upgrades one whose standard support has ended.
""",
    actions=("eks:DescribeClusterVersions",),
    sources=(f"{_API}/API_DescribeClusterVersions.html",),
    severity=Severity.ERROR,
)
def version_is_offered(subject: Subject) -> Iterator[Violation]:
    """The version is one of those in standard support."""
    name = _control_plane(subject).version.name
    found = {
        each["clusterVersion"]: each["versionStatus"]
        for each in subject.aws.pages("eks", "describe_cluster_versions", "clusterVersions")
    }
    standard = sorted(each for each in found if found[each] == "STANDARD_SUPPORT")
    if name not in standard:
        what = "has in extended support only" if name in found else "does not have"
        yield Violation(
            path=("kubernetes", "version"),
            message=f"EKS {what} Kubernetes {name} in {subject.plan.region}",
            remedy=f"take one of {', '.join(standard)}",
        )


@rule(
    "TS-ACC-102",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="Another EKS cluster has the name of the control plane",
    when="always",
    why="""
The name of an EKS cluster is unique in an account and region, so the creation of the control plane
fails while another cluster has it, for instance one that eksctl made.
""",
    actions=(*_STACK_ACTIONS, "eks:DescribeCluster"),
    sources=(f"{_API}/API_CreateCluster.html",),
    severity=Severity.ERROR,
)
def name_is_free(subject: Subject) -> Iterator[Violation]:
    """A cluster of the name is that of the control plane's stack."""
    plan = _control_plane(subject)
    stack = find_stack(subject.aws, plan.stack_name)
    if stack and plan.name in stack.ids(_CLUSTER):
        return
    with accepting("ResourceNotFoundException"):
        subject.aws.call("eks", "describe_cluster", name=plan.name)
        yield Violation(
            path=("kubernetes", "name"),
            message=f"there is an EKS cluster {plan.name} in {subject.plan.region}, which is not "
            f"of the stack {plan.stack_name}",
            remedy="give kubernetes.name another value, or delete that cluster if nobody needs it",
        )


@rule(
    "TS-ACC-103",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="The zone does not offer the type of the system nodes",
    when="always",
    why="""
The add-ons run on system nodes in the zone of the accelerators. Without them the control plane's
stack waits until the creation of their group fails, and is rolled back.
""",
    actions=("ec2:DescribeInstanceTypeOfferings",),
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/"
        "API_DescribeInstanceTypeOfferings.html",
    ),
    severity=Severity.ERROR,
    basis=Basis.INFERRED,
)
def system_nodes_are_offered(subject: Subject) -> Iterator[Violation]:
    """EC2 lists the zones that offer the type."""
    zone = subject.plan.zone
    if zone.name in (offering := zones_offering(subject, SYSTEM_TYPE)):
        return
    yield Violation(
        path=("zone",) if subject.plan.zone_is_asked else ("instance", "type"),
        message=f"{zone.name} does not offer {SYSTEM_TYPE} to this account, and "
        f"{SYSTEM_NODES} system nodes of it run there; "
        + (f"it is in {', '.join(offering)}" if offering else "no zone of the region does"),
        remedy=f"take a zone that offers {SYSTEM_TYPE} and {subject.plan.instance.name}",
    )


@rule(
    "TS-ACC-104",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="The API server is reached from its VPC alone",
    when="kubernetes.public_cidrs names no range",
    why="""
`trainshed kube` and kubectl talk to the API server themselves. Without a public range its name
stands for addresses of the VPC, which a machine outside reaches by a VPN, a peering or Direct
Connect only. AWS does not know whether there is one, so this is said each time.
""",
    sources=("https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",),
    severity=Severity.INFO,
)
def private_endpoint(subject: Subject) -> Iterator[Violation]:
    """A range of the caller's is named, or the way there is the caller's."""
    if not _control_plane(subject).public_cidrs:
        yield Violation(
            path=("kubernetes", "public_cidrs"),
            message="the API server is reached from its VPC alone: on this machine, trainshed kube "
            "and kubectl work only if it is in the VPC, or a VPN or peering leads there",
            remedy="run them in the VPC, or name the ranges of your offices in public_cidrs",
        )


@rule(
    "TS-ACC-105",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="The account may not have another EKS cluster",
    when="the control plane is not deployed yet",
    why="""
A control plane is an EKS cluster, of which a region of an account has at most 100 by default. EKS
refuses one more, and the stack is rolled back.
""",
    actions=(*_QUOTA_ACTIONS, *_STACK_ACTIONS, "eks:ListClusters"),
    sources=_QUOTAS,
    severity=Severity.ERROR,
)
def cluster_quota(subject: Subject) -> Iterator[Violation]:
    """A new control plane takes one."""
    if find_stack(subject.aws, _control_plane(subject).stack_name):
        return
    there = sum(1 for _ in subject.aws.pages("eks", "list_clusters", "clusters"))
    yield from _beyond(
        subject,
        EKS_CLUSTERS,
        there + 1,
        ("kubernetes", "name"),
        f"the control plane is one more, and {there} are in {subject.plan.region}",
        "let clusters share a control plane (kubernetes.name)",
    )


@rule(
    "TS-ACC-106",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="The control plane may not have another node group",
    when="the control plane is deployed, and the cluster's nodes are not",
    why="""
Clusters that share a control plane have a node group each, beside that of its system nodes. A
control plane has at most 30 by default. EKS refuses one more, and the deployment is rolled back.
""",
    actions=(*_QUOTA_ACTIONS, *_STACK_ACTIONS, "eks:ListNodegroups"),
    sources=_QUOTAS,
    severity=Severity.ERROR,
)
def node_group_quota(subject: Subject) -> Iterator[Violation]:
    """The nodes of a cluster take one."""
    stack = find_stack(subject.aws, subject.plan.name)
    if stack and stack.ids(_GROUP):
        return
    name = _control_plane(subject).name
    groups = []
    with accepting("ResourceNotFoundException"):
        groups = [*subject.aws.pages("eks", "list_nodegroups", "nodegroups", clusterName=name)]
    if groups:
        yield from _beyond(
            subject,
            EKS_NODE_GROUPS,
            len(groups) + 1,
            ("kubernetes", "name"),
            f"the nodes are one more node group, and {name} has {len(groups)}",
            "give the cluster a control plane of its own (kubernetes.name)",
        )


@rule(
    "TS-ACC-107",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="A node group may not have as many nodes",
    when="always",
    why="""
The nodes of a cluster are one managed node group, which has at most 450 nodes by default. EKS
refuses a larger one, and the deployment is rolled back.
""",
    actions=_QUOTA_ACTIONS,
    sources=_QUOTAS,
    answers=("TS-EKS-024",),
    severity=Severity.ERROR,
)
def node_quota(subject: Subject) -> Iterator[Violation]:
    """All nodes are in one group."""
    nodes = subject.plan.nodes.max
    yield from _beyond(
        subject,
        EKS_NODES,
        nodes,
        ("instance", "nodes", "max"),
        f"{nodes} nodes are one managed node group",
        "take fewer nodes",
    )


@rule(
    "TS-ACC-108",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="The control plane cannot go to the version of Kubernetes at once",
    when="the control plane is deployed",
    why="""
EKS raises a control plane by one minor version at a time. It refuses to leave one out or to go
back, and the deployment is rolled back.
""",
    actions=("eks:DescribeCluster",),
    sources=("https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html",),
    severity=Severity.ERROR,
)
def version_is_next(subject: Subject) -> Iterator[Violation]:
    """The version is the one that is there, or follows it."""
    plan = _control_plane(subject)
    with accepting("ResourceNotFoundException"):
        there = subject.aws.call("eks", "describe_cluster", name=plan.name)["cluster"]["version"]
        minor = int(there.partition(".")[2])
        later = plan.version.number[1] - minor
        if later not in (0, 1):
            yield Violation(
                path=("kubernetes", "version"),
                message=f"{plan.name} has Kubernetes {there}, and EKS raises it by one minor "
                f"version at a time, not to {plan.version.name}",
                remedy=f'deploy version "1.{minor + 1}" first, with an AMI of that version'
                if later > 0
                else f'take version "{there}" or later; EKS lowers none',
            )


@rule(
    "TS-ACC-109",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="The subnet of the control plane does not exist, or is not where EKS wants it",
    when="kubernetes.subnet names a subnet",
    why="""
EKS wants subnets of one VPC in two zones. The nodes have theirs, and kubernetes.subnet is for the
other zone. EKS refuses the control plane otherwise.
""",
    actions=("ec2:DescribeSubnets",),
    sources=("https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",),
    severity=Severity.ERROR,
)
def second_subnet_fits(subject: Subject) -> Iterator[Violation]:
    """The subnet is of the VPC, and of another zone than the nodes."""
    path, named = ("kubernetes", "subnet"), _control_plane(subject).subnet_id
    if named is None:
        return
    vpc, zone = subject.plan.network.vpc_id, subject.plan.zone
    remedy = f"name a private subnet of {vpc} in another zone than {zone.name}"
    found = None
    with accepting("InvalidSubnetID.NotFound"):
        [found] = subject.aws.call("ec2", "describe_subnets", SubnetIds=[named])["Subnets"]
    if found is None:
        problem = f"there is no subnet {named} in {subject.plan.region}"
    elif found["VpcId"] != vpc:
        problem = f"{named} is in {found['VpcId']}, not in {vpc}"
    elif found["AvailabilityZoneId" if zone.is_id else "AvailabilityZone"] == zone.name:
        problem = f"{named} is in {zone.name}, as the nodes are"
    else:
        return
    yield Violation(path=path, message=problem, remedy=remedy)


@rule(
    "TS-ACC-110",
    over=accounts,
    orchestrators=(Orchestrator.EKS,),
    title="The range of services overlaps the VPC's",
    when="network.vpc names an existing VPC",
    why="""
Only the account knows the ranges of a VPC that is there. EKS refuses a range of services that
overlaps one of them; a range that the VPC gets later hides its addresses from pods.
""",
    actions=("ec2:DescribeVpcs",),
    sources=(f"{_API}/API_KubernetesNetworkConfigRequest.html",),
    severity=Severity.ERROR,
)
def services_have_a_range_of_their_own(subject: Subject) -> Iterator[Violation]:
    """No range of the VPC has an address of a service."""
    vpc, services = subject.plan.network.vpc_id, _control_plane(subject).service_cidr
    if vpc is None:
        return
    with accepting("InvalidVpcID.NotFound"):  # which TS-ACC-022 finds
        [found] = subject.aws.call("ec2", "describe_vpcs", VpcIds=[vpc])["Vpcs"]
        for each in found["CidrBlockAssociationSet"]:
            has_it = each["CidrBlockState"]["State"].startswith("associat")
            if has_it and services.overlaps(IPv4Network(each["CidrBlock"])):
                yield Violation(
                    path=("kubernetes", "service_cidr"),
                    message=f"services have {services}, which overlaps {each['CidrBlock']} of "
                    f"{vpc}",
                    remedy="give kubernetes.service_cidr a private range that is not in the VPC",
                )


def _beyond(
    subject: Subject, quota: Quota, needed: int, path: tuple[str, ...], what: str, otherwise: str
) -> Iterator[Violation]:
    value = find_quota(subject.aws, quota).value
    if needed > value:
        yield Violation(
            path=path,
            message=f"{what}; the account's quota {quota.name!r} ({quota.code}) is {value:g}",
            remedy=f"{otherwise}, or ask for more: "
            + increase_command(quota, needed, subject.plan.region),
        )

"""Rules over the account for clusters of Amazon EKS, and the policy with which they ask."""

import json
from collections.abc import Callable, Iterator
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import job_bench
import pytest
from preflight_account import TRN_QUOTA, ZONE, Account, deploy
from preflight_role import Role, without

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.job_settings import JobSettings
from trainshed.app.synthesis import read_assembly
from trainshed.findings import Finding, Severity
from trainshed.orchestrators.eks import account_rules
from trainshed.plan import Fleet
from trainshed.preflight import ask_account, read_only_policy

pytestmark = pytest.mark.server

NOT_TRIED = "TS-ACC-091"
OTHER_ZONE = "usw2-az1"
ROLE = "MachineLearning"
OF_EKS = {
    "eks:DescribeCluster",
    "eks:DescribeClusterVersions",
    "eks:DescribeNodegroup",
    "eks:ListClusters",
    "eks:ListNodegroups",
    "iam:GetRole",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """An embedded AWS where a control plane takes a fraction of a second."""
    folder = tmp_path_factory.mktemp("aws")
    with job_bench.job_aws(folder, JobSettings(speed=3000)) as found:
        yield found


class EksAccount(Account):
    """An account of clusters of Amazon EKS."""

    def plan(self, **fields: Any) -> Any:
        """Return the plan of a cluster that is fine, but for these fields."""
        fine = {"access": [{"role": ROLE}], "public_cidrs": ["52.94.76.0/24"]}
        kubernetes = {**fine, **fields.pop("kubernetes", {})}
        return super().plan(orchestrator="eks", kubernetes=kubernetes, **fields)


@pytest.fixture
def account(server: EmbeddedAws, publish_ami: Callable[..., str], tmp_path: Path) -> EksAccount:
    """An account in which a cluster is fine, and which has none."""
    server.reset()
    server.grant_quota(TRN_QUOTA, 4 * 128)
    ami = publish_ami(server, "neuron/eks-1.35")
    server.client("ssm").put_parameter(
        Name="/cdk-bootstrap/hnb659fds/version", Value="21", Type="String"
    )
    make_role(server, ROLE)
    return EksAccount(aws=server, folder=tmp_path, ids={"ami": ami})


@pytest.fixture
def deploy_all(account: EksAccount, synthesise: Callable[..., Path]) -> Callable[..., None]:
    """Deploy a cluster that is fine, but for some fields."""

    def run(**fields: Any) -> None:
        assembly = read_assembly(synthesise(Fleet(clusters=(account.plan(**fields),))))
        templates = {name: stack.template for name, stack in assembly.items()}
        deploy(account, templates, "TrainNetwork", "TrainControlPlane", "TrainCluster")

    return run


def make_role(aws: EmbeddedAws, name: str, *, path: str = "/", service: str = "") -> str:
    """Make a role, for people or for a service; return its ARN."""
    principal = {"Service": service} if service else {"AWS": "arn:aws:iam::123456789012:root"}
    trust = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    iam = aws.client("iam")
    role = iam.create_role(RoleName=name, Path=path, AssumeRolePolicyDocument=document)
    return str(role["Role"]["Arn"])


def found_by(found: list[Finding], rule: str) -> list[Finding]:
    return [each for each in found if each.rule == rule]


def test_nothing_is_found_before_and_after_the_deployment(
    account: EksAccount, deploy_all: Callable[[], None]
) -> None:
    before = account.ask()
    deploy_all()
    after = account.ask()

    assert [each.rule for each in before] == [NOT_TRIED]
    assert after == []


def test_the_launch_of_each_of_several_types_is_tried(
    account: EksAccount, deploy_all: Callable[..., None], publish_ami: Callable[..., str]
) -> None:
    publish_ami(account.aws, "nvidia/eks-1.35")
    types = ["g6e.8xlarge", "g6.8xlarge"]
    several: dict[str, Any] = {
        "instance": {"type": types[0], "nodes": {"max": 1}},
        "capacity": {"instance_types": types},
    }
    deploy_all(**several)
    asked: list[dict[str, Any]] = []
    subject = account.subject(**several | {"instance": {"type": types[0], "nodes": {"max": 2}}})
    known = subject.aws.call

    def call(service: str, operation: str, **params: Any) -> dict[str, Any]:
        if operation == "run_instances":
            asked.append(params)
        return known(service, operation, **params)

    subject.aws.call = call  # type: ignore[method-assign]
    found = ask_account(subject).findings
    code, when = "Unsupported", {"DryRun": "true", "InstanceType": types[1]}
    account.aws.fail(Fault(service="ec2", operation="RunInstances", code=code, when=when))
    [refused] = found_by(
        account.ask(**several | {"instance": {"type": types[0], "nodes": {"max": 2}}}), "TS-ACC-090"
    )

    assert [each["InstanceType"] for each in asked] == types
    assert found_by([*found], "TS-ACC-090") == []
    assert refused.severity is Severity.WARNING
    assert "a dry run of the launch of 1 nodes of g6.8xlarge fails" in refused.message


def test_a_node_group_that_was_deleted_by_hand(
    account: EksAccount, deploy_all: Callable[[], None]
) -> None:
    deploy_all()
    eks = account.aws.client("eks")
    groups = eks.list_nodegroups(clusterName="train")["nodegroups"]
    [group] = [
        name
        for name in groups
        if eks.describe_nodegroup(clusterName="train", nodegroupName=name)["nodegroup"]["amiType"]
        == "CUSTOM"
    ]
    eks.delete_nodegroup(clusterName="train", nodegroupName=group)
    eks.get_waiter("nodegroup_deleted").wait(
        clusterName="train", nodegroupName=group, WaiterConfig={"Delay": 1}
    )

    account.aws.grant_quota("L-6D54EA21", 1, service="eks")

    [finding] = found_by(account.ask(), "TS-ACC-090")
    [another] = found_by(account.ask(name="Second", kubernetes={"name": "train"}), "TS-ACC-106")

    assert "its AWS::EKS::Nodegroup was deleted" in finding.message
    assert another.message == (
        "the nodes are one more node group, and train has 1; the account's quota "
        "'Managed node groups per cluster' (L-6D54EA21) is 1"
    )


@pytest.mark.parametrize(
    ("role", "said"),
    [
        pytest.param(ROLE, None, id="there"),
        pytest.param(f"arn:aws:iam::123456789012:role/{ROLE}", None, id="by-its-arn"),
        pytest.param("arn:aws:iam::123456789012:role/teams/Vision", None, id="with-a-path"),
        pytest.param("arn:aws:iam::999999999999:role/Guest", None, id="of-another-account"),
        pytest.param("Absent", "there is no role Absent in account 123456789012", id="not-there"),
        pytest.param(
            "Vision",
            "the role Vision has a path: it is arn:aws:iam::123456789012:role/teams/Vision",
            id="without-its-path",
        ),
    ],
)
def test_a_role_that_is_not_there(account: EksAccount, role: str, said: str | None) -> None:
    make_role(account.aws, "Vision", path="/teams/")

    access = [{"role": each} for each in dict.fromkeys((ROLE, role))]
    found = account.ask(kubernetes={"access": access})

    findings = found_by(found, "TS-ACC-100")
    assert [each.message for each in findings] == ([said] if said else [])
    for finding in findings:
        assert finding.place and finding.place.field == "kubernetes.access.1.role"


def test_a_version_that_eks_does_not_have(account: EksAccount) -> None:
    # EKS has had 1.36 since 2026-06-02.
    account.aws.reset(as_of="2026-03-01")
    make_role(account.aws, ROLE)

    [finding] = found_by(account.ask(kubernetes={"version": "1.36"}), "TS-ACC-101")

    assert finding.message == "EKS does not have Kubernetes 1.36 in us-west-2"
    assert "1.35" in finding.remedy
    assert found_by(account.ask(kubernetes={"version": "1.35"}), "TS-ACC-101") == []


def test_a_cluster_of_somebody_else_has_the_name(account: EksAccount) -> None:
    ec2 = account.aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for cidr, zone in (("10.60.0.0/24", "us-west-2a"), ("10.60.1.0/24", "us-west-2b"))
    ]
    account.aws.client("eks").create_cluster(
        name="train",
        roleArn=make_role(account.aws, "control-plane", service="eks.amazonaws.com"),
        resourcesVpcConfig={"subnetIds": subnets},
    )

    [finding] = found_by(account.ask(), "TS-ACC-102")

    assert finding.message == (
        "there is an EKS cluster train in us-west-2, which is not of the stack TrainControlPlane"
    )
    assert found_by(account.ask(kubernetes={"name": "lab"}), "TS-ACC-102") == []


def test_an_api_server_that_is_reached_from_its_vpc_alone(account: EksAccount) -> None:
    [finding] = found_by(account.ask(kubernetes={"public_cidrs": []}), "TS-ACC-104")

    assert finding.severity is Severity.INFO
    assert finding.message.startswith("the API server is reached from its VPC alone")
    assert finding.place and finding.place.field == "kubernetes.public_cidrs"


def test_a_zone_without_the_type_of_the_system_nodes(
    account: EksAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_rules, "SYSTEM_TYPE", "t2.absent")

    [finding] = found_by(account.ask(), "TS-ACC-103")

    assert "usw2-az4 does not offer t2.absent to this account, and 2 system nodes" in (
        finding.message
    )


@pytest.mark.parametrize(
    ("there", "asked", "remedy"),
    [
        ("1.34", "1.36", 'deploy version "1.35" first, with an AMI of that version'),
        ("1.36", "1.35", 'take version "1.36" or later; EKS lowers none'),
        ("1.34", "1.35", None),
        ("1.35", "1.35", None),
    ],
)
def test_a_control_plane_is_raised_by_one_version_at_a_time(
    account: EksAccount,
    synthesise: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    there: str,
    asked: str,
    remedy: str | None,
) -> None:
    # 2026-11-26: all of them have standard support.
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795694400")
    plan = account.plan(kubernetes={"version": there})
    assembly = read_assembly(synthesise(Fleet(clusters=(plan,))))
    templates = {name: stack.template for name, stack in assembly.items()}
    deploy(account, templates, "TrainNetwork", "TrainControlPlane")

    found = found_by(account.ask(kubernetes={"version": asked}), "TS-ACC-108")

    assert [each.remedy for each in found] == ([remedy] if remedy else [])


def make_network(aws: EmbeddedAws, cidr: str, *zones: str) -> tuple[str, list[str]]:
    """Make a VPC, and a subnet in each zone."""
    ec2 = aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock=cidr)["Vpc"]["VpcId"]
    cidrs = IPv4Network(cidr).subnets(new_prefix=24)
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=str(next(cidrs)), AvailabilityZoneId=zone)["Subnet"]
        for zone in zones
    ]
    return vpc, [each["SubnetId"] for each in subnets]


def test_the_subnet_of_the_control_plane_is_of_the_vpc_in_another_zone(
    account: EksAccount,
) -> None:
    vpc, [nodes, beside, good] = make_network(account.aws, "10.60.0.0/16", ZONE, ZONE, OTHER_ZONE)
    _, [foreign] = make_network(account.aws, "10.61.0.0/16", OTHER_ZONE)
    gone = "subnet-0123456789abcdef0"

    def said(subnet: str) -> list[str]:
        network = {"vpc": vpc, "subnet": nodes}
        found = account.ask(network=network, kubernetes={"subnet": subnet})
        return [each.message for each in found_by(found, "TS-ACC-109")]

    assert said(good) == []
    assert said(beside) == [f"{beside} is in {ZONE}, as the nodes are"]
    [problem] = said(foreign)
    assert problem.endswith(f", not in {vpc}")
    assert said(gone) == [f"there is no subnet {gone} in us-west-2"]


def test_the_range_of_services_is_not_of_the_vpc_that_is_there(account: EksAccount) -> None:
    vpc, [nodes, other] = make_network(account.aws, "10.60.0.0/16", ZONE, OTHER_ZONE)
    network = {"vpc": vpc, "subnet": nodes}

    def said() -> list[str]:
        found = account.ask(network=network, kubernetes={"subnet": other})
        return [each.message for each in found_by(found, "TS-ACC-110")]

    before = said()
    added = account.aws.client("ec2").associate_vpc_cidr_block(
        VpcId=vpc, CidrBlock="10.100.128.0/20"
    )["CidrBlockAssociation"]

    assert before == []
    assert said() == [f"services have 10.100.0.0/16, which overlaps 10.100.128.0/20 of {vpc}"]
    account.aws.client("ec2").disassociate_vpc_cidr_block(AssociationId=added["AssociationId"])
    assert said() == []


@pytest.mark.parametrize(
    ("code", "rule", "needed", "said"),
    [
        pytest.param(
            *("L-1194D53C", "TS-ACC-105", 1),
            "the control plane is one more, and 0 are in us-west-2; the account's quota 'Clusters' "
            "(L-1194D53C) is 0",
            id="clusters",
        ),
        pytest.param(
            *("L-BD136A63", "TS-ACC-107", 4),
            "4 nodes are one managed node group; the account's quota 'Nodes per managed node "
            "group' (L-BD136A63) is 3",
            id="nodes",
        ),
    ],
)
def test_a_quota_of_eks_that_is_too_small(
    account: EksAccount, code: str, rule: str, needed: int, said: str
) -> None:
    account.aws.grant_quota(code, needed, service="eks")
    enough = account.ask()
    account.aws.grant_quota(code, needed - 1, service="eks")

    [finding] = found_by(account.ask(), rule)

    assert found_by(enough, rule) == []
    assert finding.message == said
    assert f"--service-code eks --quota-code {code} --desired-value {needed} " in finding.remedy


def test_the_policy_is_enough_and_each_action_of_eks_is_needed(
    account: EksAccount, deploy_all: Callable[[], None]
) -> None:
    role = Role(account.aws)
    policies = [read_only_policy(account.subject())]
    needed: set[str] = set()
    for deployed in (False, True):
        if deployed:
            deploy_all()
        role.may(policies[0])
        assert found_by(account.ask(client=role.client), "TS-ACC-001") == []
        for action in OF_EKS:
            role.may(without(policies[0], action))
            denied = found_by(account.ask(client=role.client), "TS-ACC-001")
            if denied:
                needed.add(action)
                assert all(each.message.endswith(f"lack {action}") for each in denied)

    assert needed == OF_EKS
    resources = {
        name: each["Resource"] for each in policies[0]["Statement"] for name in each["Action"]
    }
    assert resources["eks:DescribeCluster"] == ["arn:aws:eks:us-west-2:*:cluster/train"]
    # A role may have a path.
    assert resources["iam:GetRole"] == [
        "arn:aws:iam::*:role/*/MachineLearning",
        "arn:aws:iam::*:role/MachineLearning",
    ]
    assert resources["eks:DescribeNodegroup"] == ["arn:aws:eks:us-west-2:*:nodegroup/train/*"]

"""Clusters in a VPC that is there already, and what becomes of its default group."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Template

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from trainshed.plan import Fleet, load_fleet
from trainshed_constructs import DefaultSecurityGroupRules

ROOT = Path(__file__).parents[2]
PREFIX = "trainshed:needed-by:"
Rules = set[tuple[str, str, str]]


@pytest.fixture
def ec2(embedded_aws: EmbeddedAws) -> Any:
    return embedded_aws.client("ec2")


@pytest.fixture
def vpc(ec2: Any) -> Iterator[str]:
    """A VPC whose default group is as EC2 makes it."""
    vpc_id: str = ec2.create_vpc(CidrBlock="10.30.0.0/16")["Vpc"]["VpcId"]
    yield vpc_id
    mine = [{"Name": "vpc-id", "Values": [vpc_id]}]
    for subnet in ec2.describe_subnets(Filters=mine)["Subnets"]:
        ec2.delete_subnet(SubnetId=subnet["SubnetId"])
    ec2.delete_vpc(VpcId=vpc_id)


@pytest.fixture
def group(ec2: Any, vpc: str) -> str:
    """The VPC's default group."""
    default = [
        {"Name": "vpc-id", "Values": [vpc]},
        {"Name": "group-name", "Values": ["default"]},
    ]
    [found] = ec2.describe_security_groups(Filters=default)["SecurityGroups"]
    group_id: str = found["GroupId"]
    return group_id


@pytest.fixture
def closed_group(ec2: Any, group: str) -> str:
    """The same, as AWS Config's remediation leaves it."""
    for rule in described(ec2, group):
        side = "egress" if rule["IsEgress"] else "ingress"
        revoke = getattr(ec2, f"revoke_security_group_{side}")
        revoke(GroupId=group, SecurityGroupRuleIds=[rule["SecurityGroupRuleId"]])
    return group


def described(ec2: Any, group_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ec2.describe_security_group_rules(
        Filters=[{"Name": "group-id", "Values": [group_id]}]
    )["SecurityGroupRules"]
    return found


def rules(ec2: Any, group_id: str) -> Rules:
    """Direction, protocol with port, peer."""
    return {
        (
            "egress" if rule["IsEgress"] else "ingress",
            f"{rule['IpProtocol']} {rule['ToPort']}",
            rule.get("CidrIpv4") or rule["ReferencedGroupInfo"]["GroupId"],
        )
        for rule in described(ec2, group_id)
    }


def users(ec2: Any, group_id: str) -> set[str]:
    """The stacks that need a rule, by its tags."""
    keys = {tag["Key"] for rule in described(ec2, group_id) for tag in rule.get("Tags", [])}
    return {key.removeprefix(PREFIX) for key in keys}


def needed(group_id: str) -> Rules:
    return {
        ("ingress", "-1 -1", group_id),
        ("egress", "-1 -1", group_id),
        ("egress", "tcp 443", "0.0.0.0/0"),
    }


def of_aws(group_id: str) -> Rules:
    return {("ingress", "-1 -1", group_id), ("egress", "-1 -1", "0.0.0.0/0")}


def template(name: str, group_id: str, *, close: bool = False, fail: bool = False) -> Any:
    stack = cdk.Stack(cdk.App(), name, synthesizer=cdk.BootstraplessSynthesizer())
    given = DefaultSecurityGroupRules(
        stack, "Rules", security_group_id=group_id, close_egress=close
    )
    if fail:
        # CloudFormation refuses 15 days, once the rules are there.
        broken = logs.CfnLogGroup(stack, "Broken", retention_in_days=15)
        broken.node.add_dependency(given)
    return Template.from_stack(stack).to_json()


@pytest.fixture
def delete(embedded_aws: EmbeddedAws) -> Callable[[str], None]:
    cloudformation = embedded_aws.client("cloudformation")

    def delete(stack_name: str) -> None:
        cloudformation.delete_stack(StackName=stack_name)
        cloudformation.get_waiter("stack_delete_complete").wait(
            StackName=stack_name, WaiterConfig={"Delay": 1, "MaxAttempts": 120}
        )

    return delete


def test_two_stacks_share_the_rules_of_a_closed_group_and_leave_it_closed(
    embedded_aws: EmbeddedAws, ec2: Any, closed_group: str, delete: Callable[[str], None]
) -> None:
    seen = []

    for name in ("One", "Two"):
        embedded_aws.deploy(template(name, closed_group), stack_name=name)
        seen.append((rules(ec2, closed_group), users(ec2, closed_group)))
    for name in ("One", "Two"):
        delete(name)
        seen.append((rules(ec2, closed_group), users(ec2, closed_group)))

    assert seen == [
        (needed(closed_group), {"One"}),
        (needed(closed_group), {"One", "Two"}),
        (needed(closed_group), {"Two"}),
        (set(), set()),
    ]


def test_a_group_that_allows_enough_is_left_alone(
    embedded_aws: EmbeddedAws, ec2: Any, group: str, delete: Callable[[str], None]
) -> None:
    before = described(ec2, group)

    embedded_aws.deploy(template("One", group), stack_name="One")
    during = described(ec2, group)
    delete("One")

    assert rules(ec2, group) == of_aws(group)
    assert before == during == described(ec2, group)


def test_open_egress_is_closed_for_a_vpc_of_ones_own_and_opened_again(
    embedded_aws: EmbeddedAws, ec2: Any, group: str, delete: Callable[[str], None]
) -> None:
    embedded_aws.deploy(template("One", group, close=True), stack_name="One")
    during = rules(ec2, group)
    delete("One")

    assert during == needed(group)
    assert rules(ec2, group) == of_aws(group)


@pytest.mark.parametrize("close", [False, True])
def test_a_roll_back_leaves_a_closed_group_closed(
    embedded_aws: EmbeddedAws,
    ec2: Any,
    closed_group: str,
    delete: Callable[[str], None],
    close: bool,
) -> None:
    with pytest.raises(DeploymentFailed, match="Broken"):
        embedded_aws.deploy(template("One", closed_group, close=close, fail=True), stack_name="One")

    assert rules(ec2, closed_group) == set()
    delete("One")


@pytest.mark.parametrize("fail", [False, True])
def test_a_change_to_another_group_moves_the_rules_and_a_roll_back_moves_them_back(
    embedded_aws: EmbeddedAws,
    ec2: Any,
    closed_group: str,
    vpc: str,
    delete: Callable[[str], None],
    fail: bool,
) -> None:
    other = ec2.create_security_group(GroupName="other", Description="other", VpcId=vpc)["GroupId"]
    before = rules(ec2, other)
    embedded_aws.deploy(template("One", closed_group), stack_name="One")

    with pytest.raises(DeploymentFailed) if fail else nullcontext():
        embedded_aws.deploy(template("One", other, fail=fail), stack_name="One")

    kept, left = (closed_group, other) if fail else (other, closed_group)
    assert users(ec2, kept) == {"One"}
    assert users(ec2, left) == set()
    delete("One")
    assert (rules(ec2, closed_group), rules(ec2, other)) == (set(), before)
    ec2.delete_security_group(GroupId=other)


@pytest.fixture
def lab(
    embedded_aws: EmbeddedAws,
    synthesise: Callable[[Fleet], Path],
    ec2: Any,
    vpc: str,
    closed_group: str,
    tmp_path: Path,
) -> Callable[..., Path]:
    """Synthesises the example with the ids of this AWS, and further changes."""

    def lab(**changes: str) -> Path:
        made = ec2.create_subnet(VpcId=vpc, CidrBlock="10.30.0.0/20", AvailabilityZoneId="usw2-az4")
        name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"
        ami = embedded_aws.client("ssm").get_parameter(Name=name)["Parameter"]["Value"]
        text = (ROOT / "examples/existing-network.yaml").read_text()
        for before, after in {
            "vpc-0123456789abcdef0": vpc,
            "subnet-0123456789abcdef0": made["Subnet"]["SubnetId"],
            "sg-0123456789abcdef0": closed_group,
            "type: trn1.32xlarge": f"type: trn1.32xlarge\n  ami: {ami}",
            **changes,
        }.items():
            assert before in text
            text = text.replace(before, after)
        file = tmp_path / "lab.yaml"
        file.write_text(text)
        return synthesise(load_fleet([file]))

    return lab


def test_cdk_deploy_of_a_cluster_alone_brings_the_rules_of_its_jobs(
    embedded_aws: EmbeddedAws,
    ec2: Any,
    lab: Callable[..., Path],
    closed_group: str,
    delete: Callable[[str], None],
) -> None:
    embedded_aws.cdk_deploy(lab(), "LabCluster")
    during = rules(ec2, closed_group), users(ec2, closed_group)
    delete("LabCluster")
    delete("LabNetwork")

    assert during == (needed(closed_group), {"LabNetwork"})
    assert rules(ec2, closed_group) == set()


def test_cdk_deploy_skips_the_network_stack_when_there_is_nothing_to_add(
    embedded_aws: EmbeddedAws,
    ec2: Any,
    lab: Callable[..., Path],
    closed_group: str,
    delete: Callable[[str], None],
) -> None:
    assembly = lab(default_security_group="# default_security_group")

    embedded_aws.cdk_deploy(assembly, "LabCluster")
    delete("LabCluster")

    listed = embedded_aws.client("cloudformation").describe_stacks()["Stacks"]
    assert "LabNetwork" not in [
        each["StackName"] for each in listed if each["StackStatus"] != "DELETE_COMPLETE"
    ]
    assert rules(ec2, closed_group) == set()

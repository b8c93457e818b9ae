"""The function that gives a default security group its rules, run against moto's EC2."""

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

HANDLER = (
    Path(__file__).parents[2]
    / "constructs/trainshed_constructs/custom_resources/default_security_group/handler.py"
)
PREFIX = "trainshed:needed-by:"
Rules = set[tuple[str, str, str]]


class CfnResponse(ModuleType):
    """What CloudFormation adds to inline functions, with a list instead of CloudFormation."""

    SUCCESS, FAILED = "SUCCESS", "FAILED"

    def __init__(self) -> None:
        super().__init__("cfnresponse")
        self.sent: list[tuple[str, str, str | None]] = []

    def send(
        self,
        event: dict[str, Any],
        context: object,
        status: str,
        data: dict[str, Any],
        physical_id: str,
        noEcho: bool = False,
        reason: str | None = None,
    ) -> None:
        self.sent.append((status, physical_id, reason))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> CfnResponse:
    module = CfnResponse()
    monkeypatch.setitem(sys.modules, "cfnresponse", module)
    return module


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the function would have waited, in seconds."""
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


@pytest.fixture
def ec2(moto: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    return boto3.client("ec2")


@pytest.fixture
def group(ec2: Any) -> str:
    """A default group without rules, as an organisation's policy leaves it."""
    vpc_id = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    [found] = ec2.describe_security_groups(
        Filters=[
            {"Name": "vpc-id", "Values": [vpc_id]},
            {"Name": "group-name", "Values": ["default"]},
        ]
    )["SecurityGroups"]
    group_id: str = found["GroupId"]
    for rule in described(ec2, group_id):
        side = "egress" if rule["IsEgress"] else "ingress"
        getattr(ec2, f"revoke_security_group_{side}")(
            GroupId=group_id, SecurityGroupRuleIds=[rule["SecurityGroupRuleId"]]
        )
    return group_id


@pytest.fixture
def open_group(ec2: Any, group: str) -> str:
    """A default group with the two rules that EC2 gives it."""
    allow(ec2, "ingress", group, from_group(group))
    allow(ec2, "egress", group, OPEN)
    return group


@pytest.fixture
def ask(answers: CfnResponse, ec2: Any, pauses: list[float]) -> Callable[..., None]:
    """Sends the function a request, as CloudFormation does, for a stack."""
    spec = importlib.util.spec_from_file_location("default_security_group_handler", HANDLER)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def ask(request: str, group_id: str, stack: str = "One", close: bool = False) -> None:
        properties = {
            "ServiceToken": "arn",
            "GroupId": group_id,
            "Tag": PREFIX + stack,
            "CloseEgress": str(close).lower(),
        }
        event = {"RequestType": request, "ResourceProperties": properties}
        if request != "Create":
            event["PhysicalResourceId"] = group_id
        module.handler(event, None)

    return ask


OPEN = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
HTTPS = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": OPEN["IpRanges"]}


def from_group(group_id: str) -> dict[str, Any]:
    return {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group_id}]}


def allow(ec2: Any, side: str, group_id: str, permission: dict[str, Any]) -> None:
    authorize = getattr(ec2, f"authorize_security_group_{side}")
    authorize(GroupId=group_id, IpPermissions=[permission])


def described(ec2: Any, group_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ec2.describe_security_group_rules(
        Filters=[{"Name": "group-id", "Values": [group_id]}]
    )["SecurityGroupRules"]
    return found


def rules(ec2: Any, group_id: str) -> Rules:
    """Every rule of a group: its direction, its protocol and its peer."""
    return {key(rule) for rule in described(ec2, group_id)}


def key(rule: dict[str, Any]) -> tuple[str, str, str]:
    return (
        "egress" if rule["IsEgress"] else "ingress",
        rule["IpProtocol"],
        rule.get("CidrIpv4") or rule["ReferencedGroupInfo"]["GroupId"],
    )


def users(ec2: Any, group_id: str) -> dict[tuple[str, str, str], set[str]]:
    """The stacks that need each rule, by their tags."""
    return {
        key(rule): {
            tag["Key"].removeprefix(PREFIX)
            for tag in rule.get("Tags", [])
            if tag["Key"].startswith(PREFIX)
        }
        for rule in described(ec2, group_id)
    }


def needed(group_id: str) -> Rules:
    return {
        ("ingress", "-1", group_id),
        ("egress", "-1", group_id),
        ("egress", "tcp", "0.0.0.0/0"),
    }


def of_aws(group_id: str) -> Rules:
    return {("ingress", "-1", group_id), ("egress", "-1", "0.0.0.0/0")}


Ask = Callable[..., None]


def test_a_closed_group_gets_what_is_needed_and_is_closed_again(
    ask: Ask, answers: CfnResponse, ec2: Any, group: str
) -> None:
    ask("Create", group)
    during = users(ec2, group)
    ask("Delete", group)

    assert during == {rule: {"One"} for rule in needed(group)}
    assert rules(ec2, group) == set()
    assert answers.sent == [("SUCCESS", group, None)] * 2


def test_a_group_as_ec2_makes_it_has_what_is_needed(ask: Ask, ec2: Any, open_group: str) -> None:
    ask("Create", open_group)
    during = users(ec2, open_group)
    ask("Delete", open_group)

    assert during == {rule: set() for rule in of_aws(open_group)}
    assert rules(ec2, open_group) == of_aws(open_group)


@pytest.mark.parametrize(
    ("permission", "still_added"),
    [
        pytest.param(HTTPS, False, id="the same"),
        pytest.param(HTTPS | {"FromPort": 0, "ToPort": 65535}, False, id="more ports"),
        pytest.param(OPEN, False, id="all protocols"),
        pytest.param(HTTPS | {"FromPort": 444, "ToPort": 445}, True, id="other ports"),
        pytest.param(HTTPS | {"IpProtocol": "udp"}, True, id="another protocol"),
        pytest.param(HTTPS | {"IpRanges": [{"CidrIp": "10.0.0.0/8"}]}, True, id="not anywhere"),
    ],
)
def test_a_rule_is_added_unless_one_allows_as_much(
    ask: Ask, ec2: Any, group: str, permission: dict[str, Any], still_added: bool
) -> None:
    allow(ec2, "egress", group, permission)
    before = {rule["SecurityGroupRuleId"] for rule in described(ec2, group)}

    ask("Create", group)

    added = [each for each in described(ec2, group) if each["SecurityGroupRuleId"] not in before]
    assert (("egress", "tcp", "0.0.0.0/0") in map(key, added)) is still_added
    ask("Delete", group)
    assert {rule["SecurityGroupRuleId"] for rule in described(ec2, group)} == before


def test_a_rule_to_another_group_is_not_one_to_itself(ask: Ask, ec2: Any, group: str) -> None:
    vpc_id = ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]["VpcId"]
    other = ec2.create_security_group(GroupName="o", Description="o", VpcId=vpc_id)["GroupId"]
    allow(ec2, "egress", group, from_group(other))

    ask("Create", group)

    assert rules(ec2, group) == needed(group) | {("egress", "-1", other)}


def test_stacks_share_the_rules_and_the_last_one_takes_them_away(
    ask: Ask, ec2: Any, group: str
) -> None:
    ask("Create", group, "One")
    ask("Create", group, "Two")
    both = users(ec2, group)
    ask("Delete", group, "One")
    left = users(ec2, group)
    ask("Delete", group, "Two")

    assert both == {rule: {"One", "Two"} for rule in needed(group)}
    assert left == {rule: {"Two"} for rule in needed(group)}
    assert rules(ec2, group) == set()


def test_a_rule_of_ours_that_somebody_revoked_comes_back_with_an_update(
    ask: Ask, ec2: Any, group: str
) -> None:
    ask("Create", group)
    ec2.revoke_security_group_egress(GroupId=group, IpPermissions=[HTTPS])

    ask("Update", group)

    assert users(ec2, group) == {rule: {"One"} for rule in needed(group)}


def test_open_egress_is_closed_if_asked_and_opened_again(
    ask: Ask, ec2: Any, open_group: str
) -> None:
    ask("Create", open_group, close=True)
    during = rules(ec2, open_group)
    ask("Update", open_group, close=True)
    ask("Delete", open_group, close=True)

    assert during == needed(open_group)
    assert rules(ec2, open_group) == of_aws(open_group)


def test_a_group_that_was_closed_is_not_opened(ask: Ask, ec2: Any, group: str) -> None:
    ask("Create", group, close=True)

    ask("Delete", group, close=True)

    assert rules(ec2, group) == set()


def test_a_group_that_was_closed_meanwhile_is_not_opened(
    ask: Ask, ec2: Any, open_group: str
) -> None:
    ask("Create", open_group, close=True)
    for side, permission in (
        ("ingress", from_group(open_group)),
        ("egress", from_group(open_group)),
        ("egress", HTTPS),
    ):
        getattr(ec2, f"revoke_security_group_{side}")(
            GroupId=open_group, IpPermissions=[permission]
        )

    ask("Delete", open_group, close=True)

    assert rules(ec2, open_group) == set()


@pytest.fixture
def describing(ec2: Any, group: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets a test answer the function's DescribeSecurityGroupRules; it is given EC2's own."""

    def describing(answer: Callable[[Callable[..., Any]], Any]) -> None:
        found = boto3.resource("ec2").SecurityGroup(group)
        client, own = found.meta.client, found.meta.client.describe_security_group_rules
        client.describe_security_group_rules = lambda **asked: answer(lambda: own(**asked))
        resource = SimpleNamespace(SecurityGroup=lambda group_id: found)
        monkeypatch.setattr(boto3, "resource", lambda service: resource)

    return describing


def test_a_rule_that_another_stack_makes_at_the_same_time_is_shared(
    ask: Ask, ec2: Any, group: str, describing: Callable[..., None], pauses: list[float]
) -> None:
    """Two makes its rule after One has looked, and before One makes it."""

    def overtaken(describe: Callable[[], Any]) -> Any:
        answer = describe()
        if not answer["SecurityGroupRules"]:
            tags = [{"Key": PREFIX + "Two", "Value": ""}]
            ec2.authorize_security_group_ingress(
                GroupId=group,
                IpPermissions=[from_group(group)],
                TagSpecifications=[{"ResourceType": "security-group-rule", "Tags": tags}],
            )
        return answer

    describing(overtaken)

    ask("Create", group)

    assert users(ec2, group)["ingress", "-1", group] == {"One", "Two"}
    assert set(users(ec2, group)) == needed(group)
    assert pauses == [2]


def test_it_tries_again_while_the_role_does_not_count_yet(
    ask: Ask,
    answers: CfnResponse,
    ec2: Any,
    group: str,
    describing: Callable[..., None],
    pauses: list[float],
) -> None:
    refused = [1, 2]

    def unauthorized(describe: Callable[[], Any]) -> Any:
        if refused:
            refused.pop()
            error = {"Error": {"Code": "UnauthorizedOperation", "Message": "no"}}
            raise ClientError(error, "DescribeSecurityGroupRules")
        return describe()

    describing(unauthorized)

    ask("Create", group)

    assert answers.sent == [("SUCCESS", group, None)]
    assert rules(ec2, group) == needed(group)
    assert pauses == [2, 4]


def test_a_refusal_is_answered_with_its_reason(ask: Ask, answers: CfnResponse) -> None:
    ask("Create", "sg-00000000000000000")

    [(status, physical_id, reason)] = answers.sent
    assert (status, physical_id) == ("FAILED", "sg-00000000000000000")
    assert reason and "InvalidGroup.NotFound" in reason


def test_delete_succeeds_when_the_group_is_gone(ask: Ask, answers: CfnResponse) -> None:
    ask("Delete", "sg-00000000000000000")

    assert answers.sent == [("SUCCESS", "sg-00000000000000000", None)]

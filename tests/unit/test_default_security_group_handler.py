"""The function that takes AWS's rules off a default security group, run against moto's EC2."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest

HANDLER = (
    Path(__file__).parents[2] / "constructs/trainshed_constructs/handlers/default_security_group.py"
)


class CfnResponse(ModuleType):
    """What Lambda adds to inline functions, with a list instead of CloudFormation."""

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
def ec2(moto: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    return boto3.client("ec2")


@pytest.fixture
def group_id(ec2: Any) -> str:
    vpc_id = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    [group] = ec2.describe_security_groups(
        Filters=[
            {"Name": "vpc-id", "Values": [vpc_id]},
            {"Name": "group-name", "Values": ["default"]},
        ]
    )["SecurityGroups"]
    found: str = group["GroupId"]
    return found


@pytest.fixture
def ask(answers: CfnResponse, ec2: Any) -> Callable[..., None]:
    """Sends the function a request, as CloudFormation does."""
    spec = importlib.util.spec_from_file_location("default_security_group_handler", HANDLER)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def ask(request: str, group_id: str, **more: str) -> None:
        properties = {"ServiceToken": "arn", "GroupId": group_id}
        module.handler({"RequestType": request, "ResourceProperties": properties, **more}, None)

    return ask


def rules(ec2: Any, group_id: str) -> set[tuple[str, str]]:
    """Every rule of a group: its direction and its peer."""
    found = ec2.describe_security_group_rules(Filters=[{"Name": "group-id", "Values": [group_id]}])
    return {
        (
            "egress" if rule["IsEgress"] else "ingress",
            rule.get("CidrIpv4") or rule["ReferencedGroupInfo"]["GroupId"],
        )
        for rule in found["SecurityGroupRules"]
    }


def of_aws(group_id: str) -> set[tuple[str, str]]:
    return {("ingress", group_id), ("egress", "0.0.0.0/0")}


def allow_from_itself(ec2: Any, group_id: str) -> None:
    ec2.authorize_security_group_ingress(
        GroupId=group_id,
        IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group_id}]}],
    )


@pytest.fixture
def new_group(ec2: Any, group_id: str) -> str:
    """A default group as AWS makes it; moto leaves its ingress rule out."""
    if ("ingress", group_id) not in rules(ec2, group_id):
        allow_from_itself(ec2, group_id)
    assert rules(ec2, group_id) == of_aws(group_id)
    return group_id


def test_create_leaves_no_rule(
    ask: Callable[..., None], answers: CfnResponse, ec2: Any, new_group: str
) -> None:
    ask("Create", new_group)

    assert rules(ec2, new_group) == set()
    assert answers.sent == [("SUCCESS", new_group, None)]


def test_create_of_a_group_without_rules_succeeds(
    ask: Callable[..., None], answers: CfnResponse, new_group: str
) -> None:
    ask("Create", new_group)

    ask("Create", new_group)

    assert [status for status, *_ in answers.sent] == ["SUCCESS", "SUCCESS"]


def test_delete_puts_the_rules_of_aws_back(
    ask: Callable[..., None], ec2: Any, new_group: str
) -> None:
    ask("Create", new_group)

    ask("Delete", new_group, PhysicalResourceId=new_group)

    assert rules(ec2, new_group) == of_aws(new_group)


def test_delete_succeeds_where_the_rules_are_already_back(
    ask: Callable[..., None], answers: CfnResponse, ec2: Any, new_group: str
) -> None:
    ask("Delete", new_group, PhysicalResourceId=new_group)

    assert rules(ec2, new_group) == of_aws(new_group)
    assert answers.sent == [("SUCCESS", new_group, None)]


def test_delete_succeeds_when_the_group_is_gone(
    ask: Callable[..., None], answers: CfnResponse
) -> None:
    ask("Delete", "sg-00000000000000000", PhysicalResourceId="sg-00000000000000000")

    assert answers.sent == [("SUCCESS", "sg-00000000000000000", None)]


def test_update_leaves_the_rules_of_the_stack_alone(
    ask: Callable[..., None], ec2: Any, new_group: str
) -> None:
    ask("Create", new_group)
    allow_from_itself(ec2, new_group)

    ask("Update", new_group, PhysicalResourceId=new_group)

    assert rules(ec2, new_group) == {("ingress", new_group)}


def test_update_to_another_group_takes_that_one_over(
    ask: Callable[..., None], answers: CfnResponse, ec2: Any, new_group: str
) -> None:
    ask("Update", new_group, PhysicalResourceId="sg-00000000000000000")

    assert rules(ec2, new_group) == set()
    assert answers.sent == [("SUCCESS", new_group, None)]


def test_a_refusal_is_answered_with_its_reason(
    ask: Callable[..., None], answers: CfnResponse
) -> None:
    ask("Create", "sg-00000000000000000")

    [(status, physical_id, reason)] = answers.sent
    assert (status, physical_id) == ("FAILED", "sg-00000000000000000")
    assert reason and "InvalidGroup.NotFound" in reason


def test_the_function_fits_into_a_template() -> None:
    assert len(HANDLER.read_text()) <= 4096

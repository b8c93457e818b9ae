"""The calls that only look, and where templates come from."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from botocore.exceptions import ClientError

_YAML = """
AWSTemplateFormatVersion: 2010-09-09
Description: a queue
Parameters:
  Name: {Type: String, Default: hello, Description: of the thing, AllowedValues: [hello, bye]}
Resources:
  A:
    Type: Test::Engine::Thing
    Properties:
      Text: !Sub "${Name} ${AWS::Region}"
Outputs:
  Text: {Value: !GetAtt A.Text}
"""


def test_yaml_is_read_and_returned_as_it_was(stack: Any) -> None:
    cloudformation = stack.cloud.cloudformation

    cloudformation.create_stack(StackName=stack.name, TemplateBody=_YAML)

    assert stack.outputs == {"Text": "hello us-west-2"}
    assert stack.described["Description"] == "a queue"
    template = cloudformation.get_template(StackName=stack.name, TemplateStage="Original")
    assert template["TemplateBody"] == _YAML
    summary = cloudformation.get_template_summary(StackName=stack.name)
    assert summary["ResourceTypes"] == ["Test::Engine::Thing"]
    (parameter,) = summary["Parameters"]
    assert parameter["DefaultValue"] == "hello"
    assert parameter["ParameterConstraints"] == {"AllowedValues": ["hello", "bye"]}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "s3.us-west-2.amazonaws.com", None])
def test_a_template_can_lie_in_s3(stack: Any, host: str | None) -> None:
    s3 = stack.cloud.client("s3")
    configuration = {"LocationConstraint": "us-west-2"}
    s3.create_bucket(Bucket=stack.name, CreateBucketConfiguration=configuration)
    body = stack.template({"A": stack.thing()})
    s3.put_object(Bucket=stack.name, Key="some where/t.json", Body=body)
    port = stack.cloud.url.rpartition(":")[2]
    key = quote("some where/t.json")
    url = (
        f"http://{host}:{port}/{stack.name}/{key}"
        if host
        else f"https://{stack.name}.s3.us-west-2.amazonaws.com/{key}"
    )

    stack.cloud.cloudformation.create_stack(StackName=stack.name, TemplateURL=url)

    assert stack.status == "CREATE_COMPLETE"


def test_a_template_that_is_not_in_s3_is_refused(stack: Any) -> None:
    url = f"{stack.cloud.url}/{stack.name}/nothing.json"

    with pytest.raises(ClientError, match="S3 error: The specified bucket does not exist"):
        stack.cloud.cloudformation.create_stack(StackName=stack.name, TemplateURL=url)


def test_a_template_body_has_aws_limit(stack: Any) -> None:
    with pytest.raises(ClientError, match="length less than or equal to 51200"):
        stack.create({"A": stack.thing(Text="x" * 51_200)})


def test_a_stack_in_review_has_no_template(stack: Any) -> None:
    cloudformation = stack.cloud.cloudformation
    cloudformation.create_change_set(
        StackName=stack.name,
        ChangeSetName="first",
        ChangeSetType="CREATE",
        TemplateBody=stack.template({"A": stack.thing()}),
    )

    assert cloudformation.get_template(StackName=stack.name)["StagesAvailable"] == []
    of_change_set = cloudformation.get_template(StackName=stack.name, ChangeSetName="first")
    assert list(of_change_set["TemplateBody"]["Resources"]) == ["A"]


def test_resources_are_described_in_every_way(stack: Any) -> None:
    stack.create({"A": stack.thing(), "B": stack.thing()})
    cloudformation, physical_id = stack.cloud.cloudformation, stack.physical_id("A")

    summaries = cloudformation.list_stack_resources(StackName=stack.name)["StackResourceSummaries"]
    assert [it["LogicalResourceId"] for it in summaries] == ["A", "B"]
    one = cloudformation.describe_stack_resource(StackName=stack.name, LogicalResourceId="A")
    assert one["StackResourceDetail"]["PhysicalResourceId"] == physical_id
    owner = cloudformation.describe_stack_resources(PhysicalResourceId=physical_id)
    assert {it["StackName"] for it in owner["StackResources"]} == {stack.name}
    with pytest.raises(ClientError, match="Resource C does not exist for stack"):
        cloudformation.describe_stack_resource(StackName=stack.name, LogicalResourceId="C")


def test_failed_events_can_be_asked_for(stack: Any) -> None:
    stack.create({"A": stack.thing("create")})

    events = stack.cloud.cloudformation.describe_events(
        StackName=stack.name, Filters={"FailedEvents": True}
    )["OperationEvents"]

    assert [(it["LogicalResourceId"], it["ResourceStatus"]) for it in events] == [
        ("A", "CREATE_FAILED")
    ]


def failures(stack: Any, **which: str) -> list[str]:
    """Return the failed resources that DescribeEvents shows."""
    reply = stack.cloud.cloudformation.describe_events(Filters={"FailedEvents": True}, **which)
    return [event["LogicalResourceId"] for event in reply["OperationEvents"]]


def test_the_events_of_an_operation_are_not_those_of_earlier_ones(stack: Any) -> None:
    stack.create({"A": stack.thing()})
    stack.update({"A": stack.thing(), "B": stack.thing("create")})
    first = stack.history
    stack.update({"A": stack.thing(), "C": stack.thing("create")})
    [broken] = [it for it in stack.history if it["ResourceStatus"] == "CREATE_FAILED"][1:]

    assert failures(stack, StackName=stack.name) == ["C", "B"]
    assert failures(stack, OperationId=broken["OperationId"]) == ["C"]
    assert broken["OperationId"] not in [event["OperationId"] for event in first]


def test_a_rollback_is_an_operation_of_its_own(stack: Any) -> None:
    stack.create({"A": stack.thing(), "B": {**stack.thing("create"), "DependsOn": "A"}})

    operations = {event["ResourceStatus"]: event["OperationId"] for event in stack.history}

    assert operations["CREATE_FAILED"] == operations["CREATE_IN_PROGRESS"]
    assert operations["DELETE_COMPLETE"] == operations["ROLLBACK_COMPLETE"]
    assert operations["CREATE_FAILED"] != operations["ROLLBACK_COMPLETE"]


def test_a_change_set_has_no_failures_of_its_stack(stack: Any) -> None:
    stack.create({"A": stack.thing()})
    stack.update({"A": stack.thing(), "B": stack.thing("create")})
    names = {"StackName": stack.name, "ChangeSetName": "next"}
    stack.cloud.cloudformation.create_change_set(
        **names, TemplateBody=stack.template({"A": stack.thing(), "C": stack.thing("create")})
    )
    stack.cloud.cloudformation.execute_change_set(**names)

    assert failures(stack, **names) == []


def test_events_of_nothing_are_refused(cloud: Any) -> None:
    with pytest.raises(ClientError, match="One of ChangeSetName, OperationId or StackName"):
        cloud.cloudformation.describe_events()


def test_a_template_is_validated(cloud: Any) -> None:
    validated = cloud.cloudformation.validate_template(TemplateBody=_YAML)

    assert validated["Description"] == "a queue"
    with pytest.raises(ClientError, match="JSON not well-formed"):
        cloud.cloudformation.validate_template(TemplateBody="{")


def test_stacks_of_another_account_are_its_own(stack: Any) -> None:
    stack.create({"A": stack.thing()})

    def add_account(request: Any, **_: Any) -> None:
        request.headers["x-moto-account-id"] = "111111111111"

    cloudformation = stack.cloud.cloudformation
    cloudformation.meta.events.register("before-sign", add_account)
    try:
        cloudformation.create_stack(
            StackName=stack.name,
            TemplateBody=json.dumps(
                {
                    "Resources": {
                        "P": {
                            "Type": "AWS::SSM::Parameter",
                            "Properties": {"Type": "String", "Value": {"Ref": "AWS::AccountId"}},
                        }
                    }
                }
            ),
        )
        there = cloudformation.describe_stacks()["Stacks"]
    finally:
        cloudformation.meta.events.unregister("before-sign", add_account)

    assert [(it["StackStatus"], it["StackId"].split(":")[4]) for it in there] == [
        ("CREATE_COMPLETE", "111111111111")
    ]
    assert stack.described["StackId"].split(":")[4] == "123456789012"

"""Creating a stack: order, events, failure and rollback."""

from typing import Any

import pytest
from botocore.exceptions import ClientError


def test_a_resource_has_its_three_events(stack: Any) -> None:
    assert stack.create({"A": stack.thing()}) == "CREATE_COMPLETE"

    assert stack.events == [
        ("stack", "CREATE_IN_PROGRESS"),
        ("A", "CREATE_IN_PROGRESS"),
        ("A", "CREATE_IN_PROGRESS"),
        ("A", "CREATE_COMPLETE"),
        ("stack", "CREATE_COMPLETE"),
    ]
    started, initiated = stack.history[1:3]
    assert started["PhysicalResourceId"] == ""
    assert initiated["PhysicalResourceId"].startswith("thing-")
    assert initiated["ResourceStatusReason"] == "Resource creation Initiated"


def test_events_are_kept_apart_by_the_millisecond(stack: Any) -> None:
    stack.create({name: stack.thing() for name in "ABCDE"})

    moments = [int(event["Timestamp"].timestamp() * 1000) for event in stack.history]
    assert moments == sorted(set(moments))


def test_what_is_referred_to_exists_first(stack: Any) -> None:
    resources = {
        "C": stack.thing(Text={"Fn::Sub": "${B.Text} and ${A}"}),
        "B": {**stack.thing(Text={"Fn::GetAtt": ["A", "Text"]}), "DependsOn": ["D"]},
        "A": stack.thing(Text="from A"),
        "D": stack.thing(),
    }

    assert stack.create(resources, sections={"Outputs": {"T": {"Value": {"Fn::GetAtt": "C.Text"}}}})

    assert [name for _, name in stack.calls] == ["A", "D", "B", "C"]
    assert stack.outputs["T"] == f"from A and {stack.physical_id('A')}"


def test_a_failure_rolls_back_newest_first(stack: Any) -> None:
    resources = {
        "A": stack.thing(),
        "B": stack.thing(Needs={"Ref": "A"}),
        "C": stack.thing("create", Needs={"Ref": "B"}),
        "D": stack.thing(Needs={"Ref": "C"}),
    }

    assert stack.create(resources) == "ROLLBACK_COMPLETE"

    assert stack.calls == [
        ("create", "A"),
        ("create", "B"),
        ("create", "C"),
        ("delete", "B"),
        ("delete", "A"),
    ]
    assert stack.events[-8:] == [
        ("C", "CREATE_IN_PROGRESS"),
        ("C", "CREATE_FAILED"),
        ("stack", "ROLLBACK_IN_PROGRESS"),
        ("B", "DELETE_IN_PROGRESS"),
        ("B", "DELETE_COMPLETE"),
        ("A", "DELETE_IN_PROGRESS"),
        ("A", "DELETE_COMPLETE"),
        ("stack", "ROLLBACK_COMPLETE"),
    ]
    assert 'message: "C does not want to create" (RequestToken' in stack.reason(
        "C", "CREATE_FAILED"
    )
    assert stack.reason("stack", "ROLLBACK_IN_PROGRESS") == (
        "The following resource(s) failed to create: [C]. Rollback requested by user."
    )


def test_a_failure_cancels_what_had_begun(stack: Any) -> None:
    resources = {"A": stack.thing("create"), "B": stack.thing(), "C": stack.thing()}

    stack.create(resources)

    assert stack.calls == [("create", "A")]
    assert stack.reason("C", "CREATE_FAILED") == "Resource creation cancelled"
    assert "[A, B, C]" in stack.reason("stack", "ROLLBACK_IN_PROGRESS")


def test_without_rollback_everything_stays(stack: Any) -> None:
    resources = {"A": stack.thing(), "B": stack.thing("create", Needs={"Ref": "A"})}

    assert stack.create(resources, DisableRollback=True) == "CREATE_FAILED"

    assert ("delete", "A") not in stack.calls
    assert stack.resources["A"]["ResourceStatus"] == "CREATE_COMPLETE"
    assert stack.resources["B"]["ResourceStatus"] == "CREATE_FAILED"


def test_a_stack_that_stayed_can_go_on(stack: Any) -> None:
    broken = {"A": stack.thing(), "B": stack.thing("create", Needs={"Ref": "A"})}
    stack.create(broken, OnFailure="DO_NOTHING")

    mended = {"A": stack.thing(), "B": stack.thing(Needs={"Ref": "A"})}
    assert stack.update(mended) == "UPDATE_COMPLETE"

    assert stack.calls.count(("create", "A")) == 1


def test_a_stack_that_stayed_can_be_rolled_back(stack: Any) -> None:
    resources = {"A": stack.thing(), "B": stack.thing("create", Needs={"Ref": "A"})}
    stack.create(resources, DisableRollback=True)

    stack.cloud.cloudformation.rollback_stack(StackName=stack.name)

    assert stack.status == "ROLLBACK_COMPLETE"
    assert stack.calls[-1] == ("delete", "A")


def test_on_failure_delete_leaves_no_stack(stack: Any) -> None:
    created = stack.cloud.cloudformation.create_stack(
        StackName=stack.name,
        TemplateBody=stack.template({"A": stack.thing("create")}),
        OnFailure="DELETE",
    )

    described = stack.cloud.cloudformation.describe_stacks(StackName=created["StackId"])
    assert described["Stacks"][0]["StackStatus"] == "DELETE_COMPLETE"
    with pytest.raises(ClientError, match=f"Stack with id {stack.name} does not exist"):
        _ = stack.described


def test_a_rollback_that_fails_says_so(stack: Any) -> None:
    resources = {
        "A": stack.thing("delete"),
        "B": stack.thing(Needs={"Ref": "A"}),
        "C": stack.thing("create", Needs={"Ref": "B"}),
    }

    assert stack.create(resources) == "ROLLBACK_FAILED"

    assert stack.described["StackStatusReason"] == (
        "The following resource(s) failed to delete: [A]."
    )


def test_a_bug_in_a_handler_fails_the_resource_and_not_the_request(stack: Any) -> None:
    assert stack.create({"A": stack.thing("bug-in-create")}) == "ROLLBACK_COMPLETE"

    assert stack.reason("A", "CREATE_FAILED") == (
        "internal error of the embedded AWS: ZeroDivisionError: handlers have bugs"
    )


def test_a_stack_that_rolled_back_can_only_be_deleted(stack: Any) -> None:
    stack.create({"A": stack.thing("create")})

    with pytest.raises(ClientError, match="is in ROLLBACK_COMPLETE state and can not be updated"):
        stack.update({"A": stack.thing()})
    assert stack.delete() == "DELETE_COMPLETE"


def test_a_name_is_taken_once(stack: Any) -> None:
    stack.create({"A": stack.thing()})

    with pytest.raises(ClientError, match=rf"AlreadyExists.*Stack \[{stack.name}\] already exists"):
        stack.create({"A": stack.thing()})


def test_the_stacks_tags_reach_the_resources(stack: Any) -> None:
    name = f"/{stack.name}/tagged"
    parameter = {
        "Type": "AWS::SSM::Parameter",
        "Properties": {"Name": name, "Type": "String", "Value": "x", "Tags": {"team": "own"}},
    }

    stack.create(
        {"P": parameter}, Tags=[{"Key": "team", "Value": "all"}, {"Key": "cost", "Value": "7"}]
    )

    tags = stack.cloud.client("ssm").list_tags_for_resource(
        ResourceType="Parameter", ResourceId=name
    )["TagList"]
    found = {tag["Key"]: tag["Value"] for tag in tags}
    assert found["team"] == "own"
    assert found["cost"] == "7"
    assert found["aws:cloudformation:logical-id"] == "P"


def test_conditions_decide_what_exists(stack: Any) -> None:
    resources = {
        "A": {**stack.thing(), "Condition": "Big"},
        "B": {**stack.thing(Size={"Fn::If": ["Big", {"Ref": "A"}, "small"]}), "DependsOn": "A"},
        "C": stack.thing(Size={"Fn::If": ["Big", 1, {"Ref": "AWS::NoValue"}]}),
    }
    sections = {
        "Parameters": {"Size": {"Type": "String", "Default": "small"}},
        "Conditions": {"Big": {"Fn::Equals": [{"Ref": "Size"}, "big"]}},
        "Outputs": {
            "A": {"Value": {"Ref": "A"}, "Condition": "Big"},
            "B": {"Value": {"Fn::GetAtt": ["B", "Size"]}},
        },
    }

    stack.create(resources, sections=sections)

    assert sorted(stack.resources) == ["B", "C"]
    assert stack.outputs == {"B": "small"}

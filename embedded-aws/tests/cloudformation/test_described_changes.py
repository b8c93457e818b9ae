"""A change set describes what its execution does."""

from typing import Any

import pytest
from botocore.exceptions import ClientError


def _described(stack: Any, resources: Any, **more: Any) -> dict[str, dict[str, Any]]:
    """Make a change set and return its changes by logical id."""
    cloudformation = stack.cloud.cloudformation
    sections = more.pop("sections", {})
    created = cloudformation.create_change_set(
        StackName=stack.name,
        ChangeSetName="next",
        ChangeSetType="UPDATE",
        TemplateBody=stack.template(resources, **sections),
        **more,
    )
    described = cloudformation.describe_change_set(ChangeSetName=created["Id"])
    changes = [change["ResourceChange"] for change in described["Changes"]]
    return {change["LogicalResourceId"]: change for change in changes}


def _execute(stack: Any) -> str:
    stack.cloud.cloudformation.execute_change_set(StackName=stack.name, ChangeSetName="next")
    return str(stack.status)


def _parameter(name: Any, **attributes: Any) -> dict[str, Any]:
    properties = {"Name": name, "Type": "String", "Value": "x"}
    return {"Type": "AWS::SSM::Parameter", "Properties": properties, **attributes}


@pytest.mark.parametrize(
    ("policy", "described", "kept"),
    [("Retain", "ReplaceAndRetain", True), ("Delete", "ReplaceAndDelete", False)],
)
def test_the_new_policy_decides_about_what_is_replaced(
    stack: Any, policy: str, described: str, kept: bool
) -> None:
    before, after = ("Delete", "Retain") if kept else ("Retain", "Delete")
    old, new = f"/{stack.name}/old", f"/{stack.name}/new"
    stack.create({"P": _parameter(old, UpdateReplacePolicy=before)})

    changes = _described(stack, {"P": _parameter(new, UpdateReplacePolicy=after)})

    assert changes["P"]["PolicyAction"] == described
    assert _execute(stack) == "UPDATE_COMPLETE"
    exist = stack.cloud.client("ssm").get_parameters(Names=[old])["Parameters"]
    assert bool(exist) is kept


def test_metadata_alone_changes_no_attribute_for_others(stack: Any) -> None:
    user = stack.thing(Of={"Fn::GetAtt": ["A", "Size"]})
    stack.create({"A": stack.thing(Size=1), "User": user})

    changes = _described(
        stack, {"A": {**stack.thing(Size=1), "Metadata": {"x": "y"}}, "User": user}
    )

    assert list(changes) == ["A"]
    assert _execute(stack) == "UPDATE_COMPLETE"
    assert [name for action, name in stack.calls if action == "update"] == []


def test_a_nested_stack_may_always_have_changed(stack: Any, upload: Any) -> None:
    sections = {"Outputs": {"Size": {"Value": "1"}}}
    url = upload(stack.template({"A": stack.thing(Size=1)}, **sections), "child.json")
    nested = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url}}
    user = stack.thing(Of={"Fn::GetAtt": ["N", "Outputs.Size"]})
    stack.create({"N": nested, "User": user})
    upload(stack.template({"A": stack.thing(Size=2)}, **sections), "child.json")

    changes = _described(stack, {"N": nested, "User": user})

    assert changes["N"]["Details"] == [
        {
            "Target": {"Attribute": "Properties", "RequiresRecreation": "Never"},
            "Evaluation": "Dynamic",
            "ChangeSource": "Automatic",
        }
    ]
    (detail,) = changes["User"]["Details"]
    assert detail["ChangeSource"] == "ResourceAttribute"
    assert detail["CausingEntity"] == "N.Outputs.Size"
    assert _execute(stack) == "UPDATE_COMPLETE"
    child = stack.cloud.cloudformation.describe_stacks(StackName=stack.physical_id("N"))
    assert child["Stacks"][0]["StackStatus"] == "UPDATE_COMPLETE"
    assert ("update", "User") not in stack.calls


def test_a_parameter_that_causes_a_change_is_named(stack: Any) -> None:
    resources = {
        "A": stack.thing(Size={"Ref": "Size"}, Other=1),
        "P": _parameter({"Fn::Sub": f"/{stack.name}/${{Size}}"}),
    }
    sections = {"Parameters": {"Size": {"Type": "String", "Default": "s"}}}
    stack.create(resources, sections=sections)

    changes = _described(
        stack,
        resources,
        sections=sections,
        Parameters=[{"ParameterKey": "Size", "ParameterValue": "l"}],
    )

    (detail,) = changes["A"]["Details"]
    assert detail["ChangeSource"] == "ParameterReference"
    assert detail["CausingEntity"] == "Size"
    assert detail["Evaluation"] == "Static"
    assert changes["P"]["Replacement"] == "True"
    assert _execute(stack) == "UPDATE_COMPLETE"
    assert stack.physical_id("P") == f"/{stack.name}/l"


def test_a_reference_to_what_is_replaced_is_named_and_decided_at_execution(stack: Any) -> None:
    """The name of Named depends on P, and stays what it was."""
    named = _parameter({"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": "P"}]}]})
    stack.create({"P": _parameter(f"/{stack.name}/a"), "Named": named})

    changes = _described(stack, {"P": _parameter(f"/{stack.name}/b"), "Named": named})

    assert changes["Named"]["Replacement"] == "Conditional"
    (detail,) = changes["Named"]["Details"]
    assert (detail["ChangeSource"], detail["CausingEntity"]) == ("ResourceReference", "P")
    assert _execute(stack) == "UPDATE_COMPLETE"
    assert ("Named", "UPDATE_IN_PROGRESS") not in stack.events


def test_tags_are_an_attribute_of_their_own(stack: Any) -> None:
    topic = {"Type": "AWS::SNS::Topic"}
    stack.create({"T": {**topic, "Properties": {"Tags": [{"Key": "a", "Value": "1"}]}}})

    changes = _described(
        stack, {"T": {**topic, "Properties": {"Tags": [{"Key": "a", "Value": "2"}]}}}
    )

    assert changes["T"]["Scope"] == ["Tags"]
    (detail,) = changes["T"]["Details"]
    assert detail["Target"]["Attribute"] == "Tags"
    assert "Name" not in detail["Target"]


def test_resources_that_change_their_type_are_all_named(stack: Any) -> None:
    stack.create({"A": stack.thing(), "B": stack.thing(), "C": stack.thing()})
    topic = {"Type": "AWS::SNS::Topic"}

    with pytest.raises(ClientError, match=r"Update of resource type is not permitted.*\[A, B\]"):
        _described(stack, {"A": topic, "B": topic, "C": stack.thing()})


def test_an_update_makes_change_sets_obsolete(stack: Any) -> None:
    stack.create({"A": stack.thing(Size=1)})
    _described(stack, {"A": stack.thing(Size=2)})

    stack.update({"A": stack.thing(Size=3)})

    with pytest.raises(ClientError, match="cannot be executed in its current"):
        _execute(stack)

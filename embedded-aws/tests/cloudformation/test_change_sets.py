"""Change sets say what they would do, and do it."""

from typing import Any

import pytest
from botocore.exceptions import ClientError


def _change_set(stack: Any, resources: Any, kind: str = "UPDATE", **more: Any) -> dict[str, Any]:
    cloudformation = stack.cloud.cloudformation
    created = cloudformation.create_change_set(
        StackName=stack.name,
        ChangeSetName="next",
        ChangeSetType=kind,
        **({"TemplateBody": stack.template(resources)} if resources else {}),
        **more,
    )
    described: dict[str, Any] = cloudformation.describe_change_set(ChangeSetName=created["Id"])
    return described


def _changes(described: Any) -> dict[str, dict[str, Any]]:
    changes = [change["ResourceChange"] for change in described["Changes"]]
    return {change["LogicalResourceId"]: change for change in changes}


def _parameter(name: Any, **properties: Any) -> dict[str, Any]:
    properties = {"Name": name, "Type": "String", "Value": "x", **properties}
    return {"Type": "AWS::SSM::Parameter", "Properties": properties}


def test_a_new_stack_is_in_review_until_it_is_executed(stack: Any) -> None:
    described = _change_set(stack, {"A": stack.thing()}, "CREATE")

    assert stack.status == "REVIEW_IN_PROGRESS"
    assert stack.calls == []
    assert described["ExecutionStatus"] == "AVAILABLE"
    assert _changes(described)["A"]["Action"] == "Add"
    stack.cloud.cloudformation.execute_change_set(ChangeSetName=described["ChangeSetId"])
    assert stack.status == "CREATE_COMPLETE"
    assert stack.calls == [("create", "A")]


def test_additions_changes_and_removals_are_listed(stack: Any) -> None:
    stack.create({"A": stack.thing(Size=1), "B": stack.thing(), "C": stack.thing()})

    described = _change_set(
        stack, {"A": stack.thing(Size=2), "B": stack.thing(), "D": stack.thing()}
    )

    changes = _changes(described)
    assert {name: change["Action"] for name, change in changes.items()} == {
        "A": "Modify",
        "C": "Remove",
        "D": "Add",
    }
    assert changes["A"]["Replacement"] == "False"
    assert changes["A"]["Scope"] == ["Properties"]
    (detail,) = changes["A"]["Details"]
    assert detail["Target"]["Name"] == "Size"
    assert detail["Evaluation"] == "Static"
    assert changes["C"]["PhysicalResourceId"] == stack.physical_id("C")


def test_a_replacement_is_reported_and_so_is_what_follows_from_it(stack: Any) -> None:
    user = _parameter(f"/{stack.name}/user", Description={"Ref": "P"})
    named = _parameter({"Fn::Sub": "${P}/more"})
    stack.create({"P": _parameter(f"/{stack.name}/a"), "User": user, "Named": named})

    described = _change_set(
        stack, {"P": _parameter(f"/{stack.name}/b"), "User": user, "Named": named}
    )

    changes = _changes(described)
    assert changes["P"]["Replacement"] == "True"
    assert changes["P"]["PolicyAction"] == "ReplaceAndDelete"
    assert changes["P"]["Details"][0]["Target"]["RequiresRecreation"] == "Always"
    assert changes["User"]["Replacement"] == "False"
    assert changes["User"]["Details"][0]["Evaluation"] == "Dynamic"
    assert changes["Named"]["Replacement"] == "Conditional"


def test_a_change_set_without_changes_fails(stack: Any) -> None:
    resources = {"A": stack.thing()}
    stack.create(resources)

    described = _change_set(stack, resources)

    assert (described["Status"], described["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
    assert described["StatusReason"] == (
        "The submitted information didn't contain changes. "
        "Submit different information to create a change set."
    )
    with pytest.raises(
        ClientError, match=r"cannot be executed in its current status of \[FAILED\]"
    ):
        stack.cloud.cloudformation.execute_change_set(ChangeSetName=described["ChangeSetId"])


def test_metadata_alone_is_a_change_that_touches_nothing(stack: Any) -> None:
    stack.create({"A": stack.thing()})

    described = _change_set(stack, {"A": {**stack.thing(), "Metadata": {"path": "x"}}})

    assert _changes(described)["A"]["Scope"] == ["Metadata"]
    stack.cloud.cloudformation.execute_change_set(ChangeSetName=described["ChangeSetId"])
    assert stack.status == "UPDATE_COMPLETE"
    assert stack.calls == [("create", "A")]


def test_previous_template_and_values_can_be_used_again(stack: Any) -> None:
    resources = {"A": stack.thing(Text={"Fn::Sub": "${P} ${Q}"})}
    parameters = {name: {"Type": "String"} for name in "PQ"}
    given = [{"ParameterKey": name, "ParameterValue": name.lower()} for name in "PQ"]
    stack.create(resources, sections={"Parameters": parameters}, Parameters=given)

    described = _change_set(
        stack,
        None,
        UsePreviousTemplate=True,
        Parameters=[
            {"ParameterKey": "P", "UsePreviousValue": True},
            {"ParameterKey": "Q", "ParameterValue": "new"},
        ],
    )

    values = {it["ParameterKey"]: it["ParameterValue"] for it in described["Parameters"]}
    assert values == {"P": "p", "Q": "new"}
    assert list(_changes(described)) == ["A"]


def test_a_failed_execution_can_delete_the_stack(stack: Any) -> None:
    described = _change_set(stack, {"A": stack.thing("create")}, "CREATE", OnStackFailure="DELETE")

    stack.cloud.cloudformation.execute_change_set(ChangeSetName=described["ChangeSetId"])

    after = stack.cloud.cloudformation.describe_stacks(StackName=described["StackId"])["Stacks"][0]
    assert after["StackStatus"] == "DELETE_COMPLETE"


def test_executing_one_makes_the_others_obsolete(stack: Any) -> None:
    stack.create({"A": stack.thing(Size=1)})
    cloudformation = stack.cloud.cloudformation
    for name, size in (("two", 2), ("three", 3)):
        cloudformation.create_change_set(
            StackName=stack.name,
            ChangeSetName=name,
            ChangeSetType="UPDATE",
            TemplateBody=stack.template({"A": stack.thing(Size=size)}),
        )

    cloudformation.execute_change_set(StackName=stack.name, ChangeSetName="three")

    listed = cloudformation.list_change_sets(StackName=stack.name)["Summaries"]
    statuses = {it["ChangeSetName"]: it["ExecutionStatus"] for it in listed}
    assert statuses == {"two": "OBSOLETE", "three": "EXECUTE_COMPLETE"}


def test_a_deleted_change_set_is_not_found(stack: Any) -> None:
    described = _change_set(stack, {"A": stack.thing()}, "CREATE")
    cloudformation = stack.cloud.cloudformation

    cloudformation.delete_change_set(ChangeSetName=described["ChangeSetId"])

    with pytest.raises(cloudformation.exceptions.ChangeSetNotFoundException):
        cloudformation.describe_change_set(ChangeSetName=described["ChangeSetId"])


def test_deleting_a_change_set_that_is_not_there_is_no_error(stack: Any) -> None:
    # `cdk deploy` and `cdk diff` delete first, to have the name for themselves.
    stack.create({"A": stack.thing()})

    stack.cloud.cloudformation.delete_change_set(StackName=stack.name, ChangeSetName="none")


def test_a_change_set_of_no_stack_is_not_deleted(stack: Any) -> None:
    with pytest.raises(ClientError, match=rf"Stack \[{stack.name}\] does not exist"):
        stack.cloud.cloudformation.delete_change_set(StackName=stack.name, ChangeSetName="none")


def test_a_stack_is_created_once(stack: Any) -> None:
    stack.create({"A": stack.thing()})

    with pytest.raises(ClientError, match="already exists and cannot be created again"):
        _change_set(stack, {"A": stack.thing()}, "CREATE")


def test_there_is_nothing_to_update_without_a_stack(stack: Any) -> None:
    with pytest.raises(ClientError, match=rf"Stack \[{stack.name}\] does not exist"):
        _change_set(stack, {"A": stack.thing()})


def test_imports_are_refused(stack: Any) -> None:
    with pytest.raises(ClientError, match="makes no change sets of type IMPORT"):
        _change_set(stack, {"A": stack.thing()}, "IMPORT")

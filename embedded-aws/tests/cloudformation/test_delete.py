"""Deleting a stack: order, policies, protection, failure."""

from typing import Any

import pytest
from botocore.exceptions import ClientError


def test_dependents_go_first(stack: Any) -> None:
    stack.create({"A": stack.thing(), "B": stack.thing(Needs={"Ref": "A"})})

    assert stack.delete() == "DELETE_COMPLETE"

    assert stack.calls[2:] == [("delete", "B"), ("delete", "A")]
    with pytest.raises(ClientError, match=f"Stack with id {stack.name} does not exist"):
        _ = stack.described


def test_a_deleted_stack_is_remembered_by_its_id(stack: Any) -> None:
    stack.create({"A": stack.thing()})
    stack_id = stack.described["StackId"]

    stack.delete()

    cloudformation = stack.cloud.cloudformation
    events = cloudformation.describe_stack_events(StackName=stack_id)["StackEvents"]
    assert events[0]["ResourceStatus"] == "DELETE_COMPLETE"
    resources = cloudformation.describe_stack_resources(StackName=stack_id)["StackResources"]
    assert [it["ResourceStatus"] for it in resources] == ["DELETE_COMPLETE"]
    gone = cloudformation.list_stacks(StackStatusFilter=["DELETE_COMPLETE"])["StackSummaries"]
    assert stack_id in [summary["StackId"] for summary in gone]


@pytest.mark.parametrize("policy", ["Retain", "RetainExceptOnCreate"])
def test_what_is_to_be_retained_stays(stack: Any, policy: str) -> None:
    stack.create({"A": {**stack.thing(), "DeletionPolicy": policy}, "B": stack.thing()})
    stack_id = stack.described["StackId"]

    assert stack.delete() == "DELETE_COMPLETE"

    assert ("delete", "A") not in stack.calls
    events = stack.cloud.cloudformation.describe_stack_events(StackName=stack_id)["StackEvents"]
    skipped = [it for it in events if it["ResourceStatus"] == "DELETE_SKIPPED"]
    assert [it["LogicalResourceId"] for it in skipped] == ["A"]


@pytest.mark.parametrize(("policy", "deleted"), [("Retain", False), ("RetainExceptOnCreate", True)])
def test_a_failed_creation_keeps_only_what_says_retain(
    stack: Any, policy: str, deleted: bool
) -> None:
    kept = {**stack.thing(), "DeletionPolicy": policy}

    stack.create({"A": kept, "B": stack.thing("create", Needs={"Ref": "A"})})

    assert (("delete", "A") in stack.calls) is deleted


def test_a_removed_resource_can_be_retained(stack: Any) -> None:
    stack.create({"A": {**stack.thing(), "DeletionPolicy": "Retain"}, "B": stack.thing()})

    stack.update({"B": stack.thing()})

    assert ("delete", "A") not in stack.calls
    assert ("A", "DELETE_SKIPPED") in stack.events
    assert list(stack.resources) == ["B"]


def test_a_protected_stack_is_not_deleted(stack: Any) -> None:
    stack.create({"A": stack.thing()}, EnableTerminationProtection=True)

    with pytest.raises(ClientError, match="cannot be deleted while TerminationProtection is"):
        stack.delete()
    stack.cloud.cloudformation.update_termination_protection(
        StackName=stack.name, EnableTerminationProtection=False
    )
    assert stack.delete() == "DELETE_COMPLETE"


def test_a_failed_creation_can_be_unprotected_and_a_deleted_stack_cannot_be_protected(
    stack: Any,
) -> None:
    cloudformation = stack.cloud.cloudformation
    stack.create({"A": stack.thing("create")}, EnableTerminationProtection=True)
    [failed] = cloudformation.describe_stacks(StackName=stack.name)["Stacks"]

    cloudformation.update_termination_protection(
        StackName=stack.name, EnableTerminationProtection=False
    )

    assert failed["StackStatus"] == "ROLLBACK_COMPLETE"
    assert stack.delete() == "DELETE_COMPLETE"
    with pytest.raises(ClientError, match=r"DELETE_COMPLETE|does not exist"):
        cloudformation.update_termination_protection(
            StackName=failed["StackId"], EnableTerminationProtection=True
        )


def test_a_resource_that_cannot_be_deleted_keeps_the_stack(stack: Any) -> None:
    resources = {
        "Base": stack.thing(),
        "Stuck": stack.thing("delete", Needs={"Ref": "Base"}),
        "Free": stack.thing(),
    }
    stack.create(resources)

    assert stack.delete() == "DELETE_FAILED"

    # What the stuck one needs is not even tried.
    assert sorted(stack.calls[3:]) == [("delete", "Free"), ("delete", "Stuck")]
    assert "failed to delete: [Base, Stuck]" in stack.described["StackStatusReason"]
    assert stack.delete(RetainResources=["Stuck"]) == "DELETE_COMPLETE"


def test_a_failed_deletion_can_be_forced(stack: Any) -> None:
    stack.create({"Stuck": stack.thing("delete")})
    stack.delete()

    assert stack.delete(DeletionMode="FORCE_DELETE_STACK") == "DELETE_COMPLETE"


def test_resources_are_retained_only_after_a_failure(stack: Any) -> None:
    stack.create({"A": stack.thing()})

    with pytest.raises(ClientError, match="only when the stack is in the DELETE_FAILED state"):
        stack.delete(RetainResources=["A"])


def test_deleting_nothing_is_no_error(stack: Any) -> None:
    stack.cloud.cloudformation.delete_stack(StackName=stack.name)

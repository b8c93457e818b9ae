"""Nested stacks."""

from typing import Any


def _nested(url: str, **parameters: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::CloudFormation::Stack",
        "Properties": {"TemplateURL": url, "Parameters": parameters},
    }


def _child(stack: Any, *fail: str) -> str:
    body: str = stack.template(
        {"A": stack.thing(*fail, Size={"Ref": "Size"})},
        Parameters={"Size": {"Type": "String"}},
        Outputs={"Size": {"Value": {"Fn::GetAtt": ["A", "Size"]}}},
    )
    return body


def test_a_nested_stack_is_a_stack_with_outputs(stack: Any, upload: Any) -> None:
    resources = {"N": _nested(upload(_child(stack)), Size=3)}
    sections = {"Outputs": {"O": {"Value": {"Fn::GetAtt": "N.Outputs.Size"}}}}

    assert stack.create(resources, sections=sections) == "CREATE_COMPLETE"

    assert stack.outputs == {"O": "3"}
    child = stack.cloud.cloudformation.describe_stacks(StackName=stack.physical_id("N"))
    (described,) = child["Stacks"]
    assert described["ParentId"] == described["RootId"] == stack.described["StackId"]
    assert described["StackName"].startswith(f"{stack.name}-N-")


def test_an_update_reaches_the_nested_stack(stack: Any, upload: Any) -> None:
    sections = {"Outputs": {"O": {"Value": {"Fn::GetAtt": "N.Outputs.Size"}}}}
    url = upload(_child(stack))
    stack.create({"N": _nested(url, Size=3)}, sections=sections)
    child = stack.physical_id("N")

    assert stack.update({"N": _nested(url, Size=4)}, sections=sections) == "UPDATE_COMPLETE"

    assert stack.outputs == {"O": "4"}
    assert stack.physical_id("N") == child


def test_a_failing_nested_stack_fails_its_parent_and_goes_with_it(stack: Any, upload: Any) -> None:
    assert stack.create({"N": _nested(upload(_child(stack, "create")), Size=3)})

    assert stack.status == "ROLLBACK_COMPLETE"
    reason = stack.reason("N", "CREATE_FAILED")
    assert reason.startswith("Embedded stack arn:aws:cloudformation:")
    assert "A does not want to create" in reason
    child = stack.cloud.cloudformation.describe_stacks(StackName=stack.physical_id("N"))
    assert child["Stacks"][0]["StackStatus"] == "DELETE_COMPLETE"


def test_the_parent_takes_its_nested_stack_along(stack: Any, upload: Any) -> None:
    stack.create({"N": _nested(upload(_child(stack)), Size=3)})
    child = stack.physical_id("N")

    assert stack.delete() == "DELETE_COMPLETE"

    described = stack.cloud.cloudformation.describe_stacks(StackName=child)["Stacks"][0]
    assert described["StackStatus"] == "DELETE_COMPLETE"


def test_a_nested_stack_that_was_rolled_back_does_not_hinder_the_next_update(
    stack: Any, upload: Any
) -> None:
    good = upload(stack.template({"A": stack.thing()}))
    bad = upload(stack.template({"A": stack.thing(), "B": stack.thing("create")}))
    stack.create({"N": _nested(good), "C": stack.thing(Size=1)})
    assert stack.update({"N": _nested(bad), "C": stack.thing(Size=1)}) == "UPDATE_ROLLBACK_COMPLETE"

    assert stack.update({"N": _nested(good), "C": stack.thing(Size=2)}) == "UPDATE_COMPLETE"

"""Exports are unique in a region and safe while somebody imports them."""

from typing import Any

import pytest
from botocore.exceptions import ClientError


def _exporting(name: str, value: str) -> dict[str, Any]:
    return {"Outputs": {"O": {"Value": value, "Export": {"Name": name}}}}


def _importing(stack: Any, name: str) -> dict[str, Any]:
    return {"I": stack.thing(Value={"Fn::ImportValue": {"Fn::Sub": name}})}


def test_an_export_is_imported_and_listed(stack: Any, other: Any) -> None:
    name = f"{stack.name}-export"
    stack.create({"A": stack.thing()}, sections=_exporting(name, "hello"))
    outputs = {"Outputs": {"V": {"Value": {"Fn::GetAtt": ["I", "Value"]}}}}

    other.create(_importing(other, name), sections=outputs)

    assert other.outputs == {"V": "hello"}
    cloudformation = stack.cloud.cloudformation
    exports = {it["Name"]: it["Value"] for it in cloudformation.list_exports()["Exports"]}
    assert exports[name] == "hello"
    assert cloudformation.list_imports(ExportName=name)["Imports"] == [other.name]


def _weak(stack: Any, **asked: str) -> dict[str, Any]:
    return {"I": stack.thing(Value={"Fn::GetStackOutput": asked})}


def test_an_output_is_read_without_an_export(stack: Any, other: Any) -> None:
    stack.create({"A": stack.thing()}, sections={"Outputs": {"O": {"Value": "hello"}}})
    outputs = {"Outputs": {"V": {"Value": {"Fn::GetAtt": ["I", "Value"]}}}}

    other.create(_weak(other, StackName=stack.name, OutputName="O"), sections=outputs)

    assert other.outputs == {"V": "hello"}


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        pytest.param({"StackName": "nobody", "OutputName": "O"}, "does not exist", id="stack"),
        pytest.param({"OutputName": "X"}, "Output X does not exist in stack", id="output"),
    ],
)
def test_an_output_that_is_not_there_is_refused(
    stack: Any, other: Any, asked: dict[str, str], reason: str
) -> None:
    stack.create({"A": stack.thing()}, sections={"Outputs": {"O": {"Value": "hello"}}})

    with pytest.raises(ClientError, match=reason):
        other.create(_weak(other, **{"StackName": stack.name, **asked}))


def test_a_name_is_exported_once(stack: Any, other: Any) -> None:
    name = f"{stack.name}-export"
    stack.create({"A": stack.thing()}, sections=_exporting(name, "1"))

    assert other.create({"A": other.thing()}, sections=_exporting(name, "2"))

    assert other.status == "ROLLBACK_COMPLETE"
    assert other.reason("stack", "ROLLBACK_IN_PROGRESS").startswith(
        f"Export with name {name} is already exported by stack {stack.name}."
    )


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        pytest.param({}, "Cannot delete export {0} as it is in use by {1}.", id="removed"),
        pytest.param(
            {"value": "2"}, "Export {0} cannot be updated as it is in use by {1}", id="changed"
        ),
    ],
)
def test_an_export_in_use_stays_as_it_is(
    stack: Any, other: Any, sections: dict[str, str], reason: str
) -> None:
    name = f"{stack.name}-export"
    stack.create({"A": stack.thing()}, sections=_exporting(name, "1"))
    other.create(_importing(other, name))

    changed = {"A": stack.thing(Size=2)}
    stack.update(changed, sections=_exporting(name, sections["value"]) if sections else None)

    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    reported = stack.reason("stack", "UPDATE_ROLLBACK_IN_PROGRESS")
    assert reported == reason.format(name, other.name)
    assert stack.outputs == {"O": "1"}


def test_a_stack_whose_export_is_in_use_is_not_deleted(stack: Any, other: Any) -> None:
    name = f"{stack.name}-export"
    stack.create({"A": stack.thing()}, sections=_exporting(name, "1"))
    other.create(_importing(other, name))

    assert stack.delete() == "DELETE_FAILED"
    assert stack.calls == [("create", "A")]
    other.delete()
    assert stack.delete() == "DELETE_COMPLETE"


def test_who_imports_nothing_is_reported(cloud: Any) -> None:
    with pytest.raises(ClientError, match="Export 'nothing' is not imported by any stack"):
        cloud.cloudformation.list_imports(ExportName="nothing")

"""Changes as DescribeChangeSet shows them."""

from collections.abc import Iterator, Mapping
from typing import Any

from embedded_aws.cloudformation.changes.comparison import PropertyChange
from embedded_aws.cloudformation.changes.model import Replacement, ResourceChange

_AUTOMATIC = {
    "Target": {"Attribute": "Properties", "RequiresRecreation": "Never"},
    "Evaluation": "Dynamic",
    "ChangeSource": "Automatic",
}


def described(change: ResourceChange) -> Mapping[str, Any]:
    """Return the change of one resource.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html
    """
    resource = change.before or change.after
    assert resource is not None
    details = list(_details(change))
    shown = {
        "Action": change.action,
        "LogicalResourceId": resource.logical_id,
        "ResourceType": resource.resource_type,
        "Scope": sorted({detail["Target"]["Attribute"] for detail in details}),
        "Details": details,
    }
    if change.before:
        shown["PhysicalResourceId"] = change.before.physical_id
    if change.action == "Modify":
        shown["Replacement"] = str(change.replacement)
    left = "Retain" if change.retains else "Delete"
    if change.action == "Remove":
        shown["PolicyAction"] = left
    elif change.replacement is not Replacement.FALSE:
        shown["PolicyAction"] = f"ReplaceAnd{left}"
    return {"Type": "Resource", "ResourceChange": shown}


def _details(change: ResourceChange) -> Iterator[Mapping[str, Any]]:
    for it in change.properties:
        yield from _property_details(it)
    if change.automatic:
        yield _AUTOMATIC
    for attribute in change.attributes:
        yield _static({"Attribute": attribute, "RequiresRecreation": "Never"})


def _property_details(change: PropertyChange) -> Iterator[Mapping[str, Any]]:
    """One detail for each cause, as on AWS."""
    target = {
        "Attribute": "Properties",
        "Name": change.path[0],
        "Path": "/".join(["", "Properties", *change.path]),
        "RequiresRecreation": str(change.recreation),
    }
    if change.path[0] == "Tags":
        target = {**target, "Attribute": "Tags"}
        del target["Name"]
    for name in change.parameters:
        yield {
            **_static(target),
            "ChangeSource": "ParameterReference",
            "CausingEntity": name,
        }
    for value in change.unknown:
        attribute = value.attribute
        yield {
            "Target": target,
            "Evaluation": "Dynamic",
            "ChangeSource": "ResourceAttribute" if attribute else "ResourceReference",
            "CausingEntity": f"{value.logical_id}.{attribute}" if attribute else value.logical_id,
        }
    if not change.parameters and not change.unknown:
        yield _static(target)


def _static(target: Mapping[str, Any]) -> dict[str, Any]:
    return {"Target": target, "Evaluation": "Static", "ChangeSource": "DirectModification"}

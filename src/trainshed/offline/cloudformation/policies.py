"""What becomes of a resource that a stack no longer wants: deleted, kept, or a snapshot of it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from trainshed.offline.cloudformation.errors import ValidationError
from trainshed.offline.cloudformation.stack import Resource

DELETION: Final = "DeletionPolicy"
REPLACEMENT: Final = "UpdateReplacePolicy"

_ALLOWED: Final = {
    DELETION: ("Delete", "Retain", "RetainExceptOnCreate", "Snapshot"),
    REPLACEMENT: ("Delete", "Retain", "Snapshot"),
}
_VOLUME: Final = "AWS::EC2::Volume"


def check_policies(resources: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse policies that do not exist, and snapshots that the embedded AWS cannot take.

    Args:
        resources: a template's resources.

    Raises:
        ValidationError: names the resource and the policy.
    """
    for logical_id, resource in resources.items():
        for attribute, allowed in _ALLOWED.items():
            policy = resource.get(attribute, "Delete")
            if policy not in allowed:
                raise ValidationError(
                    f"Template format error: Unrecognized {attribute} {policy} "
                    f"for resource {logical_id}"
                )
            if policy == "Snapshot" and resource["Type"] != _VOLUME:
                raise ValidationError(
                    f"Template error: resource type {resource['Type']} does not support "
                    f"{attribute} Snapshot (the embedded AWS takes snapshots of {_VOLUME} only)"
                )


def policy_of(resource: Resource, attribute: str, *, being_created: bool = False) -> str:
    """Return Delete, Retain or Snapshot.

    Args:
        resource: the resource that is to go.
        attribute: `DELETION` or `REPLACEMENT`.
        being_created: the operation that made it is being rolled back.
    """
    policy: str = resource.definition.get(attribute, "Delete")
    if policy == "RetainExceptOnCreate":
        return "Delete" if being_created else "Retain"
    return policy


def take_snapshot(resource: Resource, client: Callable[[str], Any]) -> None:
    """Take the snapshot that stays behind when the resource is deleted."""
    client("ec2").create_snapshot(
        VolumeId=resource.physical_id, Description=f"final snapshot of {resource.logical_id}"
    )

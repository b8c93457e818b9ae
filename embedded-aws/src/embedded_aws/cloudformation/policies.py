"""The policies that delete or keep a resource that a stack gives up."""

from collections.abc import Mapping
from typing import Any, Final

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.policy_names import DELETION, REPLACEMENT
from embedded_aws.cloudformation.records import Resource

_ALLOWED: Final = {
    DELETION: ("Delete", "Retain", "RetainExceptOnCreate"),
    REPLACEMENT: ("Delete", "Retain"),
}


def check_policies(resources: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse unknown policies, and Snapshot, which the embedded AWS does not support.

    Args:
        resources: a template's resources.

    Raises:
        ValidationError: names the resource and the policy.
    """
    for logical_id, resource in resources.items():
        for attribute, allowed in _ALLOWED.items():
            policy = resource.get(attribute, "Delete")
            if policy == "Snapshot":
                raise ValidationError(
                    f"Template error: resource type {resource['Type']} does not support "
                    f"{attribute} Snapshot (the embedded AWS takes no final snapshots; "
                    f"resource {logical_id})"
                )
            if policy not in allowed:
                raise ValidationError(
                    f"Template format error: Unrecognized {attribute} {policy} "
                    f"for resource {logical_id}"
                )


def is_retained(resource: Resource, attribute: str, *, being_created: bool = False) -> bool:
    """Return whether a resource is kept when its stack gives it up.

    Args:
        resource: the resource.
        attribute: `DELETION` or `REPLACEMENT`.
        being_created: the operation that made it is being rolled back.
    """
    policy = resource.definition.get(attribute)
    return policy == "Retain" or (policy == "RetainExceptOnCreate" and not being_created)

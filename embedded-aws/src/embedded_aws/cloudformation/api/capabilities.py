"""The caller must acknowledge that a template makes IAM resources."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from embedded_aws.cloudformation.errors import InsufficientCapabilities

# https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
_IAM_TYPES: Final = frozenset(
    f"AWS::IAM::{name}"
    for name in (
        "AccessKey",
        "Group",
        "InstanceProfile",
        "ManagedPolicy",
        "Policy",
        "Role",
        "User",
        "UserToGroupAddition",
    )
)
_NAMES: Final = frozenset(
    {"GroupName", "InstanceProfileName", "ManagedPolicyName", "RoleName", "UserName"}
)
_NAMED_TYPES: Final = _IAM_TYPES - {
    "AWS::IAM::AccessKey",
    "AWS::IAM::Policy",
    "AWS::IAM::UserToGroupAddition",
}


def needed_capabilities(resources: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the capability that a template needs, if any."""
    iam = [resource for resource in resources.values() if resource["Type"] in _IAM_TYPES]
    named = any(
        resource["Type"] in _NAMED_TYPES and _NAMES & set(resource.get("Properties", {}))
        for resource in iam
    )
    if named:
        return ("CAPABILITY_NAMED_IAM",)
    return ("CAPABILITY_IAM",) if iam else ()


def check_capabilities(
    resources: Mapping[str, Mapping[str, Any]], acknowledged: Collection[str]
) -> None:
    """Refuse a template that needs more than the caller acknowledged.

    Raises:
        InsufficientCapabilities: names what is missing.
    """
    for capability in needed_capabilities(resources):
        if capability not in acknowledged and "CAPABILITY_NAMED_IAM" not in acknowledged:
            raise InsufficientCapabilities(f"Requires capabilities : [{capability}]")

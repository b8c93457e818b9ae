"""The caller must acknowledge that a template makes IAM resources."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from embedded_aws.actions import Refusal

# The types that need it, and the property with which a template names a resource, if there is one.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
_NAMED_BY: Final = {
    "AWS::IAM::AccessKey": None,
    "AWS::IAM::Group": "GroupName",
    "AWS::IAM::InstanceProfile": "InstanceProfileName",
    "AWS::IAM::ManagedPolicy": "ManagedPolicyName",
    "AWS::IAM::Policy": None,
    "AWS::IAM::Role": "RoleName",
    "AWS::IAM::User": "UserName",
    "AWS::IAM::UserToGroupAddition": None,
}


def needed_capabilities(resources: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the capability that a template needs, if any."""
    iam = [resource for resource in resources.values() if resource["Type"] in _NAMED_BY]
    if any(_NAMED_BY[it["Type"]] in it.get("Properties", {}) for it in iam):
        return ("CAPABILITY_NAMED_IAM",)
    return ("CAPABILITY_IAM",) if iam else ()


def check_capabilities(
    resources: Mapping[str, Mapping[str, Any]], acknowledged: Collection[str]
) -> None:
    """Refuse a template that needs more than the caller acknowledged.

    Raises:
        Refusal: names what is missing.
    """
    for capability in needed_capabilities(resources):
        if capability not in acknowledged and "CAPABILITY_NAMED_IAM" not in acknowledged:
            raise Refusal(
                "InsufficientCapabilitiesException", f"Requires capabilities : [{capability}]"
            )

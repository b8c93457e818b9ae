"""How an update of a resource proceeds: what of that the embedded AWS does.

CloudFormation user guide, "UpdatePolicy attribute".
"""

from collections.abc import Mapping
from typing import Any, Final

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.template.scope import text

ATTRIBUTE: Final = "UpdatePolicy"


def check_update_policy(logical_id: str, definition: Mapping[str, Any]) -> None:
    """Refuse what would have an effect on AWS and none here.

    Args:
        logical_id: of the resource.
        definition: the resource in the template, with functions evaluated.

    Raises:
        ValidationError: names the policy.
    """
    for name, value in definition.get(ATTRIBUTE, {}).items():
        asks_nothing = name == "AutoScalingReplacingUpdate" and not _is_on(value, "WillReplace")
        if name != "AutoScalingScheduledAction" and not asks_nothing:
            raise ValidationError(
                f"the embedded AWS does not support the {ATTRIBUTE} {name} of resource "
                f"{logical_id}; leave it out"
            )


def ignores_unmodified_sizes(definition: Mapping[str, Any]) -> bool:
    """Return whether sizes of a group that the template does not change stay as they are."""
    policy = definition.get(ATTRIBUTE, {}).get("AutoScalingScheduledAction", {})
    return _is_on(policy, "IgnoreUnmodifiedGroupSizeProperties")


def _is_on(policy: Mapping[str, Any], name: str) -> bool:
    return bool(text(policy.get(name, False)) == "true")

"""Which policies IAM accepts in the language version of 2008.

IAM user guide, "IAM JSON policy elements: Version": a policy without Version is one of 2008-10-17.
Inferred: managed policies must be of 2012-10-17, in IAM's words; inline and trust policies need not
be. moto requires it of all.
"""

import json
from typing import Any

from moto.iam.policy_validation import BaseIAMPolicyValidator

from embedded_aws.actions import Call, Refusal, action, correction

_CURRENT = "2012-10-17"


@correction
def accept_both_policy_versions() -> None:
    """Accept inline and trust policies of either version."""
    # mypy refuses replacing methods; moto offers no other way.
    BaseIAMPolicyValidator._validate_version = _accept  # type: ignore[assignment,method-assign]


def _accept(_: BaseIAMPolicyValidator) -> None:
    """Skip this check: the syntax check requires one of the two versions."""


@action("iam", "CreatePolicy", "CreatePolicyVersion")
def create_managed_policy(call: Call) -> Any:
    """Create a managed policy or a version of one, in the current language version."""
    try:
        document = json.loads(call.params["PolicyDocument"])
    except json.JSONDecodeError:
        return call.moto()
    if isinstance(document, dict) and document.get("Version", "2008-10-17") == "2008-10-17":
        raise Refusal(
            "MalformedPolicyDocument", f"Policy document must be version {_CURRENT} or greater."
        )
    return call.moto()

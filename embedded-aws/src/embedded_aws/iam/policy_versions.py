"""Which policies IAM takes in the language of 2008.

[S] IAM user guide, "IAM JSON policy elements: Version": a policy without Version is one of
2008-10-17. [I] Managed policies must be of 2012-10-17, in IAM's words; inline and trust policies
need not be. moto asks it of all.
"""

import json
from typing import Any

from moto.iam.policy_validation import BaseIAMPolicyValidator

from embedded_aws.actions import Call, Refusal, action, correction

_CURRENT = "2012-10-17"


@correction
def accept_both_policy_versions() -> None:
    """Take inline and trust policies of either version."""
    # mypy does not like methods to be replaced; moto offers no other way.
    BaseIAMPolicyValidator._validate_version = _accept  # type: ignore[assignment,method-assign]


def _accept(_: BaseIAMPolicyValidator) -> None:
    """Leave it to the syntax check that the version is one of the two."""


@action("iam", "CreatePolicy", "CreatePolicyVersion")
def create_managed_policy(call: Call) -> Any:
    """Make a managed policy, or a version of one, in the current language."""
    try:
        document = json.loads(call.params["PolicyDocument"])
    except json.JSONDecodeError:
        return call.moto()
    if isinstance(document, dict) and document.get("Version", "2008-10-17") == "2008-10-17":
        raise Refusal(
            "MalformedPolicyDocument", f"Policy document must be version {_CURRENT} or greater."
        )
    return call.moto()

"""A template's Rules: assertions over its parameters, as CDK's CheckBootstrapVersion."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.template.functions import evaluate_condition
from embedded_aws.cloudformation.template.scope import Scope


def check(rules: Mapping[str, Any], scope: Scope) -> None:
    """Check the parameters against every rule whose condition applies.

    Raises:
        ValidationError: an assertion does not hold; the message has its description.
    """
    for name, rule in rules.items():
        if "RuleCondition" in rule and not evaluate_condition(rule["RuleCondition"], scope):
            continue
        for assertion in rule.get("Assertions", ()):
            if not evaluate_condition(assertion["Assert"], scope):
                reason = assertion.get("AssertDescription", f"assertion of rule {name} failed")
                raise ValidationError(f"Template validation error: Rule {name}: {reason}")

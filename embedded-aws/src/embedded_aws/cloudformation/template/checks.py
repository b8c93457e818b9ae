"""Check that the references within a template exist, and that its Rules hold."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.schema import schema_of
from embedded_aws.cloudformation.template.document import Template
from embedded_aws.cloudformation.template.functions import evaluate_condition
from embedded_aws.cloudformation.template.references import depends_on, references
from embedded_aws.cloudformation.template.scope import Scope


def check_references(template: Template, names: Collection[str], region: str) -> None:
    """Refuse references to names that do not exist, in any branch of any condition, as on AWS.

    Args:
        template: the whole template.
        names: its parameters and the pseudo parameters.
        region: whose schemas say which attributes there are.

    Raises:
        ValidationError: names what is missing.
    """
    known = {*names, "AWS::NoValue"}
    for block in ("Conditions", "Rules"):
        used = {name for name, _ in references(template.section(block))}
        if not used <= known:
            raise ValidationError(
                f"Template format error: Unresolved dependencies "
                f"[{', '.join(sorted(used - known))}]. "
                f"Cannot reference resources in the {block} block of the template"
            )
    for block in ("Resources", "Outputs"):
        missing: list[str] = []
        for part in template.section(block).values():
            for name, attribute in references(part):
                if name in template.resources:
                    if attribute is not None:
                        _check_attribute(template, name, attribute, region)
                elif attribute is not None or name not in known:
                    missing.append(str(name))
            if block == "Resources":
                missing += [name for name in depends_on(part) if name not in template.resources]
        if missing:
            raise unresolved(missing, block)


def unresolved(missing: Sequence[str], block: str) -> ValidationError:
    """Return the error for references to names that do not exist.

    Args:
        missing: the names.
        block: Resources or Outputs.
    """
    return ValidationError(
        f"Template format error: Unresolved resource dependencies "
        f"[{', '.join(dict.fromkeys(missing))}] in the {block} block of the template"
    )


def _check_attribute(template: Template, logical_id: str, attribute: str, region: str) -> None:
    resource_type = template.resources[logical_id]["Type"]
    schema = schema_of(resource_type, region)
    if schema and attribute and not schema.has_attribute(attribute):
        raise ValidationError(
            f"Template error: resource {logical_id} does not support attribute type "
            f"{attribute} in Fn::GetAtt"
        )


def check_rules(rules: Mapping[str, Any], scope: Scope) -> None:
    """Check the parameters against each of the Rules whose condition applies.

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

"""Rules of security groups as resources of their own: `sgr-...`, with tags.

EC2 API reference: TagSpecifications of AuthorizeSecurityGroup* are for security-group-rule only,
and the answer lists every rule that was made; SecurityGroupRuleIds of RevokeSecurityGroup*;
CreateTags of something that does not exist (InvalidSecurityGroupRuleId.NotFound); a description
belongs to a rule with any peer. Tags go with the rule.
"""

from typing import Any

from moto.ec2.models.security_groups import SecurityGroup, SecurityGroupRule

from embedded_aws.actions import Call, Refusal, action, correction
from embedded_aws.ec2.tags import by_key


@correction
def show_descriptions() -> None:
    """Have moto return the description of rules whose peer is a group."""
    # mypy refuses replacing properties; moto offers no other way.
    SecurityGroupRule.description = property(_description)  # type: ignore[assignment,method-assign]


def _description(rule: SecurityGroupRule) -> str | None:
    return rule.ip_range.get("Description") or rule.source_group.get("Description")


def all_rules(group: SecurityGroup) -> list[SecurityGroupRule]:
    """Return a group's rules of both directions."""
    return [*group.ingress_rules, *group.egress_rules]


@action("ec2", "RevokeSecurityGroupIngress", "RevokeSecurityGroupEgress")
def revoke(call: Call) -> Any:
    """Revoke rules, by their ids or by their content, and remove their tags."""
    ec2 = call.backend("ec2")
    group = ec2.get_security_group_from_id(call.params.get("GroupId", ""))
    if group is None:
        return call.moto()
    egress = call.operation.endswith("Egress")
    known = {rule.id for rule in (group.egress_rules if egress else group.ingress_rules)}
    for rule_id in call.params.get("SecurityGroupRuleIds", []):
        if rule_id not in known:
            raise _no_such_rule(rule_id)
    before = {rule.id for rule in all_rules(group)}
    answer = call.moto()
    for rule_id in before - {rule.id for rule in all_rules(group)}:
        ec2.tags.pop(rule_id, None)
    return answer


@action("ec2", "CreateTags")
def create_tags(call: Call) -> Any:
    """Tag existing resources; moto looks up every kind of resource except rules."""
    by_key(call.params.get("Tags", []))
    groups = call.backend("ec2").describe_security_groups()
    known = {rule.id for group in groups for rule in all_rules(group)}
    for resource_id in call.params.get("Resources", []):
        if resource_id.startswith("sgr-") and resource_id not in known:
            raise _no_such_rule(resource_id)
    return call.moto()


@action("ec2", "DescribeSecurityGroupRules")
def describe_rules(call: Call) -> Any:
    """List rules, in one page; moto does not check the size of a page."""
    return call.moto()


def _no_such_rule(rule_id: str) -> Refusal:
    return Refusal(
        "InvalidSecurityGroupRuleId.NotFound",
        f"The security group rule ID '{rule_id}' does not exist",
    )


def covers(rule: Any, port: int) -> bool:
    """Whether a rule of moto's is for a TCP port."""
    if rule.ip_protocol == "-1":
        return True
    return bool(rule.ip_protocol == "tcp" and rule.from_port <= port <= rule.to_port)

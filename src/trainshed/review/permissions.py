"""What IAM permits and what security groups let through, gained and lost, in plain words."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainshed.review.differences import SecurityGroupRule, Statement, Targets, TemplateDifference
from trainshed.review.model import Permission
from trainshed.review.values import Names, rendered

ANYWHERE: Mapping[str, str] = {"0.0.0.0/0": "anywhere (IPv4)", "::/0": "anywhere (IPv6)"}
"""Ranges of all addresses, and what to call them."""
ANYONE = ("*", "AWS:*")
"""Principals that are whoever asks."""
# By this rule CDK says that a group sends nothing: without any rule it might send everything.
_NOTHING = "255.255.255.255/32"
_SCOPES = {"": "", "ForAllValues": "every ", "ForAnyValue": "any "}
_OPERATORS = {
    "ArnEquals": "is",
    "ArnLike": "is like",
    "Bool": "is",
    "IpAddress": "is in",
    "NotIpAddress": "is not in",
    "StringEquals": "is",
    "StringLike": "is like",
    "StringNotEquals": "is not",
    "StringNotLike": "is not like",
}


def permissions(stack: str, difference: TemplateDifference, called: Names) -> list[Permission]:
    """Return what IAM permits more or less than before: gained first."""
    said = [(each.gained, statement_text(each, called)) for each in difference.statements]
    for policy in difference.managed_policies:
        name = rendered(policy.policy, called).rpartition("/")[2]
        said.append(
            (policy.gained, f"managed policy {name} for {rendered(policy.identity, called)}")
        )
    return _sorted(stack, said)


def security_rules(stack: str, difference: TemplateDifference, called: Names) -> list[Permission]:
    """Return what security groups let through more or less than before: gained first."""
    rules = (rule for rule in difference.rules if rule.peer != _NOTHING)
    return _sorted(stack, [(rule.gained, rule_text(rule, called)) for rule in rules])


def _sorted(stack: str, said: Iterable[tuple[bool, str]]) -> list[Permission]:
    # A statement that differs only in its name is lost as well as gained.
    unique = {*said}
    meant = sorted(each for each in unique if (not each[0], each[1]) not in unique)
    found = [Permission(stack=stack, gained=gained, text=text) for gained, text in meant]
    return sorted(found, key=lambda permission: not permission.gained)


def statement_text(statement: Statement, called: Names) -> str:
    """Return what a statement says: `NodeRole may s3:GetObject on data/*, if ...`."""
    principals = _targets(statement.principals, "anyone but ", called, _principal)
    if statement.unparsed:
        return f"{principals}: a statement by {rendered(statement.unparsed, called)}"
    verb = "may not" if statement.effect == "Deny" else "may"
    actions = _targets(statement.actions, "do anything but ", called, _action)
    resources = _targets(statement.resources, "everything but ", called, rendered)
    on = resources.replace("*", "every resource") if resources == "*" else resources
    conditions = "".join(f", if {each}" for each in _conditions(statement.condition, called))
    return f"{principals} {verb} {actions} on {on}{conditions}"


def who_has(statement: Statement, called: Names) -> str:
    """Return to whom a statement gives or denies something, by their names."""
    return ", ".join(
        rendered(name.partition(":")[2] or name, called) for name in statement.principals.names
    )


def rule_text(rule: SecurityGroupRule, called: Names) -> str:
    """Return what a rule lets through: `LustreGroup takes TCP 988 from ClientGroup`."""
    group = rendered(rule.group, called)
    peer = ANYWHERE.get(rule.peer or "") or rendered(rule.peer or "an unknown peer", called)
    verb, preposition = ("takes", "from") if rule.inbound else ("sends", "to")
    return f"{group} {verb} {_traffic(rule)} {preposition} {'itself' if peer == group else peer}"


def _traffic(rule: SecurityGroupRule) -> str:
    if rule.protocol == "-1":
        return "all traffic"
    protocol = rule.protocol.upper()
    first, last = rule.from_port, rule.to_port
    if first is None or str(first) == "-1":
        return f"all {protocol}"
    return f"{protocol} {first}" if first == last else f"{protocol} {first}-{last}"


def _targets(targets: Targets, but: str, called: Names, word: Any) -> str:
    names = sorted({word(name, called) for name in targets.names})
    return f"{but if targets.inverted else ''}{', '.join(names)}"


def _action(name: str, _: Names) -> str:
    return "do anything" if name == "*" else name


def _principal(name: str, called: Names) -> str:
    if name in ANYONE:
        return "anyone"
    if name.startswith("AWS:") and name.endswith("${AWS::AccountId}:root"):
        return "this account"
    kind, _, who = name.partition(":")
    words = {"AWS": "", "Service": "service ", "Federated": "who signs in by "}
    return f"{words[kind]}{rendered(who, called)}" if kind in words else rendered(name, called)


def _conditions(condition: Any, called: Names) -> Iterator[str]:
    if not isinstance(condition, dict):
        if condition is not None:
            yield rendered(str(condition), called)
        return
    for operator, keys in condition.items():
        for key, values in keys.items() if isinstance(keys, dict) else ():
            listed = values if isinstance(values, list) else [values]
            said = " or ".join(rendered(str(value), called) for value in listed)
            scope, _, plain = operator.rpartition(":")
            yield f"{_SCOPES[scope]}{key} {_OPERATORS.get(plain, plain)} {said}"

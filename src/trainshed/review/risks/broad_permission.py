"""Permissions that are gained, and that give far more than most need."""

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from trainshed.review.differences import Statement, TemplateDifference
from trainshed.review.model import Level, Risk, RiskKind
from trainshed.review.permissions import ANYONE, statement_text
from trainshed.review.risks.affected import Resources
from trainshed.review.values import Names, rendered
from trainshed.sensitive_names import ADMINISTRATORS, gives_wide_rights

# Who may do anything in these may give themselves everything else.
_ALL_POWERFUL = ("iam", "organizations", "sts")
_OF_AWS = ":iam::aws:policy/"
_ASK = "ask which actions it calls and on what, and give these only"


def broad_permission(
    stack: str, difference: TemplateDifference, resources: Resources, called: Names
) -> Iterator[Risk]:
    """Yield statements and managed policies of far too wide rights.

    Args:
        stack: name of the stack.
        difference: what the engine says of it.
        resources: of the stack after the change.
        called: the names in it.
    """
    # A statement that differs only in its name is lost as well as gained.
    lost = [replace(each, gained=True) for each in difference.statements if not each.gained]
    for statement in difference.statements:
        if not statement.gained or statement in lost or _of_an_endpoint(statement, resources):
            continue
        allowed = [each for each in statement.branches() if each.effect == "Allow"]
        levels = {_breadth(each) for each in allowed}
        if level := next((level for level in Level if level in levels), None):
            yield _risk(stack, level, _who(statement, called), statement_text(statement, called))
        elif allowed and (level := _anyone(statement)):
            yield Risk(
                kind=_kind_of_access(statement),
                level=level,
                stack=stack,
                resource=rendered(statement.resources.names[0], called),
                message=statement_text(statement, called),
                remedy="ask who needs it, and name the role, or the organisation in a condition",
            )
    for policy in difference.managed_policies:
        arn = rendered(policy.policy, called)
        name = arn.rpartition("/")[2]
        if policy.gained and _OF_AWS in policy.policy and gives_wide_rights(name):
            level = Level.HIGH if name in ADMINISTRATORS else Level.MEDIUM
            who = rendered(policy.identity, called)
            yield _risk(stack, level, who, f"managed policy {name} for {who}")


def _risk(stack: str, level: Level, who: str, message: str) -> Risk:
    return Risk(
        kind=RiskKind.BROAD_PERMISSION,
        level=level,
        stack=stack,
        resource=who,
        message=message,
        remedy=_ASK,
    )


def _who(statement: Statement, called: Names) -> str:
    return ", ".join(
        rendered(name.partition(":")[2] or name, called) for name in statement.principals.names
    )


def _breadth(statement: Statement) -> Level | None:
    """Return how dangerous it is that a statement names so many actions on so much."""
    everywhere = "*" in statement.resources.names or statement.resources.inverted
    actions = [action.lower() for action in statement.actions.names]
    if statement.actions.inverted:
        return Level.HIGH if everywhere else None
    if any(action in ("*", "*:*") for action in actions):
        return Level.HIGH
    if not everywhere:
        return None
    services = [action.removesuffix(":*") for action in actions if action.endswith(":*")]
    if any(service in _ALL_POWERFUL for service in services):
        return Level.HIGH
    if any(fnmatchcase("iam:passrole", action) for action in actions):
        return Level.MEDIUM if statement.condition else Level.HIGH
    return Level.MEDIUM if services else None


def _anyone(statement: Statement) -> Level | None:
    """Return how dangerous it is that a statement is for whoever asks."""
    if not (statement.principals.inverted or {*ANYONE} & {*statement.principals.names}):
        return None
    return Level.MEDIUM if statement.condition else Level.HIGH


def _kind_of_access(statement: Statement) -> RiskKind:
    """Return whose subject access by anyone is: who assumes a role has its permissions."""
    assumes = any(action.lower().startswith("sts:") for action in statement.actions.names)
    return RiskKind.BROAD_PERMISSION if assumes else RiskKind.OPEN_TO_THE_WORLD


def _of_an_endpoint(statement: Statement, resources: Resources) -> bool:
    """Return whether it is the policy of a VPC endpoint, which permits nothing by itself."""
    return any(
        resources.get(name.removeprefix("${").partition(".")[0], {}).get("Type")
        == "AWS::EC2::VPCEndpoint"
        for name in statement.resources.names
    )

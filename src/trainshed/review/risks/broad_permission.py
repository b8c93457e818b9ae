"""Permissions that are gained, and that give far more than most need."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainshed.documents.sensitive_names import sounds_like_an_administrator
from trainshed.review.differences import ManagedPolicy, Statement, TemplateDifference
from trainshed.review.managed_policies import statements_of
from trainshed.review.model import Level, Risk, RiskKind
from trainshed.review.permissions import statement_text, who_has
from trainshed.review.risks.access import anyone, assumes, is_of_another_account
from trainshed.review.risks.affected import Resources
from trainshed.review.risks.grants import breadth
from trainshed.review.values import Names, rendered

_OF_AWS = ":iam::aws:policy/"
_ASK = "ask which actions it calls and on what, and give these only"


def broad_permission(
    stack: str, difference: TemplateDifference, resources: Resources, account: str, called: Names
) -> Iterator[Risk]:
    """Yield statements and managed policies of far too wide rights.

    Args:
        stack: name of the stack.
        difference: what the engine says about it.
        resources: of the stack after the change.
        account: where it is deployed; no account where the app leaves that open.
        called: the names in it.
    """
    for statement in difference.statements:
        # A statement that differs only in its name is lost as well as gained.
        if replace(statement, gained=not statement.gained) in difference.statements:
            continue
        if not _of_an_endpoint(statement, resources):
            found = _gained if statement.gained else _lost
            yield from found(stack, statement, account, called)
    for policy in difference.managed_policies:
        if policy.gained and (level := _of_managed(policy, called)):
            who = rendered(policy.identity, called)
            name = rendered(policy.policy, called).rpartition("/")[2]
            yield _risk(stack, level, who, f"managed policy {name} for {who}")


def _gained(stack: str, statement: Statement, account: str, called: Names) -> Iterator[Risk]:
    allowed = [each for each in statement.branches() if each.effect == "Allow"]
    who, said = who_has(statement, called), statement_text(statement, called)
    if level := _worst([breadth(each) for each in allowed]):
        yield _risk(stack, level, who, said)
    elif allowed and (level := anyone(statement)):
        # Who assumes a role has its permissions.
        kind = RiskKind.BROAD_PERMISSION if assumes(statement) else RiskKind.OPEN_TO_THE_WORLD
        remedy = "ask who needs it, and name the role, or the organisation in a condition"
        yield _of_resource(stack, kind, level, statement, called, remedy)
    elif allowed and is_of_another_account(statement, account):
        level = Level.HIGH if assumes(statement) and not statement.condition else Level.MEDIUM
        remedy = "ask whose account that is, and whether it needs all that"
        yield _of_resource(stack, RiskKind.BROAD_PERMISSION, level, statement, called, remedy)


def _lost(stack: str, statement: Statement, _: str, called: Names) -> Iterator[Risk]:
    if any(each.effect == "Deny" for each in statement.branches()):
        said = f"no longer: {statement_text(statement, called)}"
        yield replace(
            _risk(stack, Level.MEDIUM, who_has(statement, called), said),
            remedy="ask why it was denied, and whether another policy allows it",
        )


def _of_managed(policy: ManagedPolicy, called: Names) -> Level | None:
    """Return how dangerous a managed policy is: by what it says, or else by its name."""
    name = rendered(policy.policy, called).rpartition("/")[2]
    if _OF_AWS in policy.policy and (found := statements_of(name)):
        return _worst([breadth(each) for each in found if each.effect == "Allow"])
    return Level.MEDIUM if sounds_like_an_administrator(name) else None


def _worst(levels: Sequence[Level | None]) -> Level | None:
    return next((level for level in Level if level in levels), None)


def _risk(stack: str, level: Level, who: str, message: str) -> Risk:
    return Risk(
        kind=RiskKind.BROAD_PERMISSION,
        level=level,
        stack=stack,
        resource=who,
        message=message,
        remedy=_ASK,
    )


def _of_resource(
    stack: str, kind: RiskKind, level: Level, statement: Statement, called: Names, remedy: str
) -> Risk:
    return Risk(
        kind=kind,
        level=level,
        stack=stack,
        resource=rendered(statement.resources.names[0], called),
        message=statement_text(statement, called),
        remedy=remedy,
    )


def _of_an_endpoint(statement: Statement, resources: Resources) -> bool:
    """Return whether it is the policy of a VPC endpoint, which permits nothing by itself."""
    return any(
        resources.get(name.removeprefix("${").partition(".")[0], {}).get("Type")
        == "AWS::EC2::VPCEndpoint"
        for name in statement.resources.names
    )

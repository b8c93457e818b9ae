"""A rule over an account: what it finds there, and which IAM actions it needs for that."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

from trainshed.checks.rule import Basis, RuleFacts, Violation, import_modules
from trainshed.findings import Finding, Severity
from trainshed.plan import ClusterPlan
from trainshed.preflight.shared_answers import SharedAnswers


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is looked at.

    Attributes:
        plan: the cluster.
        aws: its region of the account.
        now: the time.
        template: the synthesised template of the cluster's own stack, if it is known.
    """

    plan: ClusterPlan
    aws: SharedAnswers
    now: datetime
    template: Mapping[str, Any] | None = None


# Mostly its own violations; what is compared elsewhere comes as findings with their own ids.
AccountCheck = Callable[[Subject], Iterator[Violation | Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRule(RuleFacts):
    """A rule over an account.

    Attributes:
        when: which clusters it is for.
        actions: IAM actions that it needs.
        answers: ids of rules over a plan that only say what to ask the account.
        check: finds it; None when another rule, or what applies the rules, does.
    """

    when: str
    actions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    check: AccountCheck | None = None


_RULES: dict[str, AccountRule] = {}


def account_rule(
    rule_id: str,
    *,
    title: str,
    when: str,
    why: str,
    actions: tuple[str, ...],
    sources: tuple[str, ...],
    severity: Severity = Severity.ERROR,
    basis: Basis = Basis.DOCUMENTED,
    answers: tuple[str, ...] = (),
) -> Callable[[AccountCheck], AccountCheck]:
    """Make a function a rule; the arguments are the attributes of `AccountRule`."""

    def register(check: AccountCheck) -> AccountCheck:
        rule = described_rule(
            rule_id,
            title=title,
            when=when,
            why=why,
            sources=sources,
            severity=severity,
            basis=basis,
        )
        _RULES[rule_id] = replace(rule, actions=actions, answers=answers, check=check)
        return check

    return register


def described_rule(
    rule_id: str,
    *,
    title: str,
    when: str,
    why: str,
    sources: tuple[str, ...],
    severity: Severity = Severity.ERROR,
    basis: Basis = Basis.DOCUMENTED,
) -> AccountRule:
    """Add a rule that has no function of its own; the arguments are its attributes."""
    assert rule_id not in _RULES, f"two rules are called {rule_id}"
    _RULES[rule_id] = AccountRule(
        id=rule_id,
        title=title,
        severity=severity,
        why=why.strip(),
        basis=basis,
        sources=sources,
        when=when,
    )
    return _RULES[rule_id]


@cache
def account_rules() -> dict[str, AccountRule]:
    """Return every rule by its id, in the order of the ids: those of each module of `rules`."""
    import_modules("trainshed.preflight.rules")
    return dict(sorted(_RULES.items()))

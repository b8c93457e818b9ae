"""A rule: what it finds in a plan, and everything that its page says."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from trainshed.documents.problems import Path
from trainshed.findings import Severity
from trainshed.plan import ClusterPlan


class Basis(StrEnum):
    """How it is known that the rule is right."""

    DOCUMENTED = "documented by the vendor"
    OBSERVED = "observed in the vendor's own data or in a synthesised template"
    INFERRED = "inferred from what is documented; not seen on AWS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """What a rule found.

    Attributes:
        path: the field of the cluster file that it is about; () for the whole.
        message: what was found, with the values seen.
        remedy: what to do about it.
    """

    path: Path
    message: str
    remedy: str


Check = Callable[[ClusterPlan], Iterator[Violation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFacts:
    """What the page of any rule says.

    Attributes:
        id: stable, `TS-`, a topic and a number.
        title: what it finds, in one line.
        severity: unless the cluster file says another one.
        why: why AWS would refuse, or a job would fail, hang or be slow; Markdown.
        basis: how that is known.
        sources: addresses of the pages that say so, or what else it rests on.
    """

    id: str
    title: str
    severity: Severity
    why: str
    basis: Basis
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(RuleFacts):
    """A rule over a plan.

    Attributes:
        example: the shortest cluster file in which it finds something.
        check: finds it.
    """

    example: str
    check: Check


_RULES: dict[str, Rule] = {}


def rule(
    rule_id: str,
    *,
    title: str,
    why: str,
    sources: tuple[str, ...],
    example: str,
    severity: Severity = Severity.WARNING,
    basis: Basis = Basis.DOCUMENTED,
) -> Callable[[Check], Check]:
    """Make a function a rule; the arguments are the attributes of `Rule`."""

    def register(check: Check) -> Check:
        assert rule_id not in _RULES, f"two rules are called {rule_id}"
        _RULES[rule_id] = Rule(
            id=rule_id,
            title=title,
            severity=severity,
            why=why.strip(),
            basis=basis,
            sources=sources,
            example=example.strip() + "\n",
            check=check,
        )
        return check

    return register


@cache
def rules() -> dict[str, Rule]:
    """Return every rule by its id, in the order of the ids: those of each module of `rules`."""
    package = importlib.import_module("trainshed.checks.rules")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_RULES.items()))

"""A rule: what it finds in a plan, and everything that its page says."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NotRequired, TypedDict, Unpack

from trainshed.documents.problems import Path
from trainshed.findings import Severity
from trainshed.plan import ClusterPlan, Fleet


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


# Finds what is wrong with one cluster, by itself or among all that are judged with it.
Check = Callable[[ClusterPlan], Iterator[Violation]]
FleetCheck = Callable[[ClusterPlan, Fleet], Iterator[Violation]]


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
    severity: Severity = Severity.WARNING
    why: str
    basis: Basis = Basis.DOCUMENTED
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(RuleFacts):
    """A rule over a plan.

    Attributes:
        example: the shortest cluster file in which it finds something.
        check: finds it.
    """

    example: str
    check: FleetCheck


_RULES: dict[str, Rule] = {}


class _Page(TypedDict):
    """The attributes of `Rule` that its decorator takes."""

    title: str
    why: str
    sources: tuple[str, ...]
    example: str
    severity: NotRequired[Severity]
    basis: NotRequired[Basis]


def rule(rule_id: str, **page: Unpack[_Page]) -> Callable[[Check], Check]:
    """Make a function over one cluster a rule; the arguments are the attributes of `Rule`."""

    def register(check: Check) -> Check:
        fleet_rule(rule_id, **page)(lambda plan, _fleet: check(plan))
        return check

    return register


def fleet_rule(rule_id: str, **page: Unpack[_Page]) -> Callable[[FleetCheck], FleetCheck]:
    """Make a function over a cluster, and all that are judged with it, a rule."""

    def register(check: FleetCheck) -> FleetCheck:
        assert rule_id not in _RULES, f"two rules are called {rule_id}"
        page["why"] = page["why"].strip()
        page["example"] = page["example"].strip() + "\n"
        _RULES[rule_id] = Rule(id=rule_id, check=check, **page)
        return check

    return register


@cache
def all_rules() -> dict[str, Rule]:
    """Return every rule by its id, in the order of the ids: those of each module of `rules`."""
    import_modules("trainshed.checks.rules")
    return dict(sorted(_RULES.items()))


def import_modules(package_name: str) -> None:
    """Import every module of a package, so that its rules are registered."""
    package = importlib.import_module(package_name)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package_name}.{module.name}")

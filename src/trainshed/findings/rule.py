"""A rule: what it finds, in what, and everything that its page says."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from inspect import signature
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from trainshed.findings.model import Basis, Finding, Severity, Violation

P = TypeVar("P")
W = TypeVar("W")
K = TypeVar("K", bound=str)

# The modules of rules, or packages of them, by the command that applies them; in the order in which
# the rules are applied. With a star, those of each orchestrator that has some.
_OF_PLANS = ("trainshed.checks.rules", "trainshed.orchestrators.*.rules")
_MODULES: Mapping[str, tuple[str, ...]] = {
    "check": _OF_PLANS,
    # Some have their pages in those of `check`.
    "lint": (*_OF_PLANS, "trainshed.lint.rules"),
    "preflight": ("trainshed.preflight.rules", "trainshed.orchestrators.*.account_rules"),
    "job why": (
        "trainshed.jobs.why.ended",
        "trainshed.orchestrators.*.job_rules",
        "trainshed.jobs.why.capacity",
        "trainshed.jobs.why.nodes",
        "trainshed.jobs.why.ahead",
        "trainshed.jobs.why.guard",
        "trainshed.jobs.why.node_causes",
        "trainshed.jobs.why.unanswered",
    ),
    "bench judge": ("trainshed.collectives.rules",),
    "bench judge of several logs": ("trainshed.collectives.rules",),
    "container push, container list, preflight": ("trainshed.containers.drivers",),
    "check, preflight, lint": ("trainshed.findings.acceptance",),
}
# The commands that read what is accepted.
_ACCEPTING = frozenset({"check", "lint", "preflight"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Over(Generic[P, W]):
    """What rules are applied to.

    Attributes:
        command: the command of trainshed that applies them, for instance `check`, or several.
        parts: yields the parts of a whole; a rule judges one part at a time.
        orchestrator: returns that of a part, for rules of some orchestrators only.
        examples: finds what is wrong with an example, by the kind of file that it is.
        example_file: returns the whole file of an example, where rules give only what matters.
    """

    command: str
    parts: Callable[[W], Iterable[P]]
    orchestrator: Callable[[P], str] | None = None
    examples: Mapping[str, Callable[[str], Sequence[Finding]]] = field(default_factory=dict)
    example_file: Callable[[str], str] = str


Found = Iterator[Violation | Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A function that finds what a rule is about.

    Attributes:
        rule_id: the rule's id.
        over: what it is applied to.
        find: the function: of a part, and of the whole.
        orchestrators: that it is about; () for all.
        examples: the shortest file in which it finds something, by the kind of file.
        actions: IAM actions that it needs.
        answers: ids of rules over a plan that only say what to ask the account.
    """

    rule_id: str
    over: Over[Any, Any]
    find: Callable[..., Found]
    orchestrators: tuple[str, ...] = ()
    examples: Mapping[str, str] = field(default_factory=dict)
    actions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    def parts(self, whole: object) -> Iterator[Any]:
        """Yield the parts of a whole that it is about."""
        return filter(self.concerns, self.over.parts(whole))

    def concerns(self, part: object) -> bool:
        """Whether it is about a part, by the part's orchestrator."""
        of = self.over.orchestrator
        return not self.orchestrators or (of is not None and of(part) in self.orchestrators)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is found, and why it matters.

    Attributes:
        id: stable, `TS-`, a topic and a number.
        title: what it finds, in one line.
        severity: unless the file's owner says another one.
        why: why AWS would refuse, or a job would fail, hang or be slow; Markdown.
        basis: how that is known; None for what a command sees itself, for instance how a job ended.
        sources: addresses of the pages that say so, or what else it rests on.
        when: what must be for it to be checked, in words; empty when nothing must.
        remedy: what to do, for rules without an example, whose findings say it.
        command: that finds it by itself, without functions of the rule.
    """

    id: str
    title: str
    severity: Severity = Severity.WARNING
    why: str
    basis: Basis | None = None
    sources: tuple[str, ...] = ()
    when: str = ""
    remedy: str = ""
    command: str = ""

    @property
    def checks(self) -> tuple[Check, ...]:
        """The functions that find it; none where the command does by itself."""
        return tuple(check for check in _CHECKS if check.rule_id == self.id)

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that find it."""
        named = [check.over.command for check in self.checks] or [self.command]
        return tuple(dict.fromkeys(name for each in named for name in each.split(", ")))

    @property
    def is_acceptable(self) -> bool:
        """Whether a file's owner can accept what it finds."""
        return not _ACCEPTING.isdisjoint(self.commands)


class _Page(TypedDict, total=False):
    """What a rule says beside its functions; once, where it has several."""

    title: str
    why: str
    sources: tuple[str, ...]
    severity: Severity
    basis: Basis
    when: str
    remedy: str
    command: str


_RULES: dict[str, Rule] = {}
_CHECKS: list[Check] = []


def rule(
    rule_id: str,
    *,
    over: Over[P, W],
    example: str | Mapping[K, str] = "",
    orchestrators: tuple[str, ...] = (),
    actions: tuple[str, ...] = (),
    answers: tuple[str, ...] = (),
    **page: Unpack[_Page],
) -> Callable[[Callable[[P], Found] | Callable[[P, W], Found]], object]:
    """Make a function a rule, or one more function of a rule that has its page already.

    Args:
        rule_id: the rule's id.
        over: what the function is applied to: it takes a part, and the whole if it has a second
            parameter.
        example: the shortest file in which it finds something; by kind, or of the only kind. Where
            `over` completes it, only what matters.
        orchestrators: as those of `Check`.
        actions: as those of `Check`.
        answers: as those of `Check`.
        page: the other attributes of `Rule`.
    """
    if page:
        describe(rule_id, **page)
    examples = dict.fromkeys(over.examples, example) if isinstance(example, str) else example

    def register(find: Callable[..., Found]) -> object:
        takes_whole = len(signature(find).parameters) > 1
        _CHECKS.append(
            Check(
                rule_id=rule_id,
                over=over,
                find=find if takes_whole else lambda part, _: find(part),
                orchestrators=orchestrators,
                examples={
                    kind: over.example_file(f"{text.strip()}\n")
                    for kind, text in examples.items()
                    if text
                },
                actions=actions,
                answers=answers,
            )
        )
        return find

    return register


def describe(rule_id: str, **page: Unpack[_Page]) -> Rule:
    """Add a rule that a command finds by itself, or that has functions of its own elsewhere."""
    assert rule_id not in _RULES, f"two rules are called {rule_id}"
    page["why"] = page["why"].strip()
    if "sources" in page:
        page.setdefault("basis", Basis.DOCUMENTED)
    _RULES[rule_id] = Rule(id=rule_id, **page)
    return _RULES[rule_id]


@cache
def checks_of(command: str) -> tuple[Check, ...]:
    """Return the functions that a command applies, in their order."""
    for name in _MODULES[command]:
        _load(name)
    return tuple(check for check in _CHECKS if check.over.command == command)


@cache
def all_rules() -> Mapping[str, Rule]:
    """Return every rule of every command by its id, in the order of the ids."""
    for command in _MODULES:
        checks_of(command)
    return dict(sorted(_RULES.items()))


def rule_called(rule_id: str) -> Rule:
    """Return a rule of the modules that are loaded."""
    return _RULES[rule_id]


def _load(name: str) -> None:
    """Import a module, and those of a package; of a name with a star, all that there are."""
    around, star, part = name.partition(".*.")
    if star:
        for each in _modules_in(around):
            if find_spec(f"{each}.{part}"):
                _load(f"{each}.{part}")
        return
    for each in _modules_in(name):
        importlib.import_module(each)


def _modules_in(name: str) -> Iterator[str]:
    """Import a module; yield the names of those in it."""
    module = importlib.import_module(name)
    for each in pkgutil.iter_modules(getattr(module, "__path__", ())):
        yield f"{name}.{each.name}"

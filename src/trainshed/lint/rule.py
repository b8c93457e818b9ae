"""A rule over a file that is not ours: what it finds, and everything that its page says."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from trainshed.checks import Violation
from trainshed.checks.rule import RuleFacts, import_modules
from trainshed.lint.model import Fact, FileKind, Known, LintedFile, Unknown

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileViolation(Violation):
    """What a rule found.

    Attributes:
        rests_on: the values that it was found by, so that the message names the parameters whose
            defaults they are.
    """

    rests_on: tuple[Known[Any] | None, ...] = ()


class NotDecided(Exception):
    """The file does not decide a value that a rule needs.

    Attributes:
        unknown: the value.
    """

    def __init__(self, unknown: Unknown) -> None:
        self.unknown = unknown
        super().__init__(unknown.why)


def decided(fact: Fact[T]) -> Known[T] | None:
    """Return a value that a rule needs, or None where the file does not give it.

    Raises:
        NotDecided: the file gives it, but does not decide it. The rule then says so of this part
            of the file, and goes on with the next.
    """
    if isinstance(fact, Unknown):
        raise NotDecided(fact)
    return fact


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRule:
    """A rule over a file that is not ours.

    Attributes:
        facts: what its page says; of a rule that `trainshed check` has, the same.
        examples: for each kind of file that it judges, the shortest one in which it finds
            something.
        check: finds it; a value that it needs and the file does not decide is yielded.
    """

    facts: RuleFacts
    examples: Mapping[FileKind, str]
    check: Callable[[LintedFile], Iterator[FileViolation | Unknown]]


_RULES: dict[str, LintRule] = {}


def lint_rule(
    facts: RuleFacts,
    *,
    over: Callable[[LintedFile], Iterable[S]],
    examples: Mapping[FileKind, str],
) -> Callable[[Callable[[S, LintedFile], Iterator[FileViolation]]], object]:
    """Make a function over a part of a document a rule.

    Args:
        facts: of a rule that `trainshed check` has, those (`all_rules()[id]`).
        over: the parts of a document that the function judges, one at a time.
        examples: as those of `LintRule`.
    """

    def register(judge: Callable[[S, LintedFile], Iterator[FileViolation]]) -> object:
        def check(document: LintedFile) -> Iterator[FileViolation | Unknown]:
            for part in over(document):
                try:
                    yield from judge(part, document)
                except NotDecided as error:
                    yield error.unknown

        assert facts.id not in _RULES, f"two rules are called {facts.id}"
        stripped = {kind: example.strip() + "\n" for kind, example in examples.items()}
        page = replace(facts, why=facts.why.strip())
        _RULES[facts.id] = LintRule(facts=page, examples=stripped, check=check)
        return judge

    return register


@cache
def lint_rules() -> dict[str, LintRule]:
    """Return every rule by its id, in the order of the ids: those of each module of `rules`."""
    import_modules("trainshed.lint.rules")
    return dict(sorted(_RULES.items()))

"""Ask an account everything at once; what it does not answer is a finding, and stops nothing."""

import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic

from trainshed.aws import AwsRefusal, BadCredentials
from trainshed.errors import TrainshedError
from trainshed.findings import Finding, Place, Rule, Violation
from trainshed.findings.rule import Check, checks_of, rule_called
from trainshed.findings.run import finding_of
from trainshed.preflight.rules.answers import LACKS_PERMISSION, NOT_ANSWERED
from trainshed.preflight.rules.credentials import WHOSE
from trainshed.preflight.subject import Subject

# boto3 tries a throttled call again for some seconds.
PATIENCE_SECONDS = 30.0
_LOOK_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What an account says about a cluster.

    Attributes:
        findings: rule by rule; what the cluster file accepts is not applied.
        rules: ids of the rules that were applied to the end.
    """

    findings: tuple[Finding, ...]
    rules: frozenset[str]

    @property
    def offline_rules(self) -> frozenset[str]:
        """Ids of the rules over a plan whose questions the account has answered."""
        asked = checks_of("preflight")
        still_open = {
            each for check in asked if check.rule_id not in self.rules for each in check.answers
        }
        return frozenset(each for check in asked for each in check.answers) - still_open


class _Question:
    """A check that is being made, in a thread of its own.

    Args:
        check: what to apply.
        subject: to what.
        done: is given the question when it is answered.
    """

    def __init__(self, check: Check, subject: Subject, done: "SimpleQueue[_Question]") -> None:
        self.rule = rule_called(check.rule_id)
        self.found: list[Violation | Finding] = []
        self.error: BaseException | None = None
        self._check, self._subject, self._done = check, subject, done
        # One that never ends does not keep the program from ending.
        threading.Thread(target=self._ask, name=check.rule_id, daemon=True).start()

    def _ask(self) -> None:
        try:
            self.found.extend(self._check.find(self._subject, self._subject))
        # Whoever waits for the answers raises it.
        except BaseException as error:
            self.error = error
        self._done.put(self)


def ask_account(
    subject: Subject,
    *,
    only: Collection[str] | None = None,
    seconds: float = PATIENCE_SECONDS,
    show: Callable[[str], None] = lambda _: None,
) -> Answers:
    """Apply the rules over the account.

    Args:
        subject: the cluster and its account.
        only: ids of the rules to apply; by default all.
        seconds: after which what has not been answered is a finding.
        show: gets a text about what it waits for.

    Raises:
        BadCredentials: there are none that AWS takes.
        TrainshedError: AWS cannot be reached at all.
    """
    done: SimpleQueue[_Question] = SimpleQueue()
    checks = [check for check in checks_of("preflight") if only is None or check.rule_id in only]
    waiting = [_Question(check, subject, done) for check in checks if check.concerns(subject)]
    answered: list[_Question] = []
    deadline = monotonic() + seconds
    show(f"{len(waiting)} checks ask the account")
    while waiting and (left := deadline - monotonic()) > 0:
        try:
            question = done.get(timeout=min(left, _LOOK_SECONDS))
        except Empty:
            show(f"no answer yet for {', '.join(each.rule.id for each in waiting)}")
        else:
            waiting.remove(question)
            answered.append(question)
    _raise_what_concerns_all(answered)
    found = [finding for question in answered for finding in _findings(question, subject)]
    found += [
        _not_checked(subject, rule, NOT_ANSWERED, f"no answer in {seconds:g} s", "try again later")
        for rule in (question.rule for question in waiting)
    ]
    failed = {each.rule.id for each in (*waiting, *(each for each in answered if each.error))}
    return Answers(
        findings=tuple(sorted(found, key=lambda finding: finding.rule)),
        rules=frozenset(check.rule_id for check in checks) - failed,
    )


def _raise_what_concerns_all(answered: list[_Question]) -> None:
    errors = {question.rule.id: question.error for question in answered if question.error}
    for error in errors.values():
        if isinstance(error, BadCredentials):
            raise error
    # Every cluster asks for the account, and AWS answers that to everybody.
    refused = any(isinstance(error, AwsRefusal) for error in errors.values())
    if WHOSE in errors and not refused and not any(question.found for question in answered):
        raise errors[WHOSE]
    for error in errors.values():
        if not isinstance(error, TrainshedError):
            raise error


def _findings(question: _Question, subject: Subject) -> Iterator[Finding]:
    for found in question.found:
        yield finding_of(question.rule, found, subject.plan.where)
    error, rule = question.error, question.rule
    if isinstance(error, AwsRefusal) and error.lacks:
        remedy = f"allow {error.lacks}; trainshed preflight --print-policy prints a policy"
        yield _not_checked(
            subject, rule, LACKS_PERMISSION, f"the credentials lack {error.lacks}", remedy
        )
    elif error:
        yield _not_checked(subject, rule, NOT_ANSWERED, str(error), "try again later")


def _not_checked(subject: Subject, rule: Rule, reason: Rule, why: str, remedy: str) -> Finding:
    title = f"{rule.title[:1].lower()}{rule.title[1:]}"
    return Finding(
        rule=reason.id,
        severity=reason.severity,
        message=f"{rule.id} was not checked ({title}): {why}",
        remedy=remedy,
        place=Place.of(subject.plan.where, ()),
        source=reason.sources[0],
    )

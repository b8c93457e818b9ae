"""Ask an account everything at once; what it does not answer is a finding, and stops nothing."""

import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic

from trainshed.aws import AwsRefusal, BadCredentials
from trainshed.checks.judging import as_owner_says, finding_of, place
from trainshed.checks.rule import Violation
from trainshed.errors import TrainshedError
from trainshed.findings import Finding
from trainshed.preflight.rule import AccountCheck, AccountRule, Subject, account_rules
from trainshed.preflight.rules.answers import LACKS_PERMISSION, NOT_ANSWERED
from trainshed.preflight.rules.credentials import WHOSE

# boto3 tries a throttled call again for some seconds.
PATIENCE_SECONDS = 30.0
_LOOK_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What an account says of a cluster.

    Attributes:
        findings: the most severe first.
        rules: ids of the rules that were applied to the end.
    """

    findings: tuple[Finding, ...]
    rules: frozenset[str]

    @property
    def offline_rules(self) -> frozenset[str]:
        """Ids of the rules over a plan whose questions the account has answered."""
        asked = account_rules().values()
        still_open = {each for rule in asked if rule.id not in self.rules for each in rule.answers}
        return frozenset(each for rule in asked for each in rule.answers) - still_open


class _Question:
    """A rule that is being applied, in a thread of its own.

    Args:
        rule: what to apply.
        check: its function.
        subject: to what.
        done: is given the question when it is answered.
    """

    def __init__(
        self,
        rule: AccountRule,
        check: AccountCheck,
        subject: Subject,
        done: "SimpleQueue[_Question]",
    ) -> None:
        self.rule = rule
        self.found: list[Violation | Finding] = []
        self.error: BaseException | None = None
        self._check, self._subject, self._done = check, subject, done
        # One that never ends does not keep the program from ending.
        threading.Thread(target=self._ask, name=rule.id, daemon=True).start()

    def _ask(self) -> None:
        try:
            self.found.extend(self._check(self._subject))
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
        show: is told what it waits for.

    Raises:
        BadCredentials: there are none that AWS takes.
        TrainshedError: AWS cannot be reached at all.
    """
    done: SimpleQueue[_Question] = SimpleQueue()
    rules = [
        rule
        for rule in account_rules().values()
        if rule.check and (only is None or rule.id in only)
    ]
    waiting = {rule.id: _Question(rule, rule.check, subject, done) for rule in rules if rule.check}
    answered: list[_Question] = []
    deadline = monotonic() + seconds
    show(f"{len(rules)} checks ask the account")
    while waiting and (left := deadline - monotonic()) > 0:
        try:
            question = done.get(timeout=min(left, _LOOK_SECONDS))
        except Empty:
            show(f"no answer yet for {', '.join(waiting)}")
        else:
            answered.append(waiting.pop(question.rule.id))
    _raise_what_concerns_all(answered)
    found = [finding for question in answered for finding in _findings(question, subject)]
    found += [
        _not_checked(subject, rule, NOT_ANSWERED, f"no answer in {seconds:g} s", "try again later")
        for rule in (question.rule for question in waiting.values())
    ]
    return Answers(
        findings=as_owner_says(subject.plan.findings, sorted(found, key=lambda each: each.rule)),
        rules=frozenset(question.rule.id for question in answered if not question.error),
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
        if isinstance(found, Finding):
            yield found
        else:
            yield finding_of(subject.plan.where, question.rule, found)
    error, rule = question.error, question.rule
    if isinstance(error, AwsRefusal) and error.lacks:
        remedy = f"allow {error.lacks}; trainshed preflight --print-policy prints a policy"
        yield _not_checked(
            subject, rule, LACKS_PERMISSION, f"the credentials lack {error.lacks}", remedy
        )
    elif error:
        yield _not_checked(subject, rule, NOT_ANSWERED, str(error), "try again later")


def _not_checked(
    subject: Subject, rule: AccountRule, reason: AccountRule, why: str, remedy: str
) -> Finding:
    title = f"{rule.title[:1].lower()}{rule.title[1:]}"
    return Finding(
        rule=reason.id,
        severity=reason.severity,
        message=f"{rule.id} was not checked ({title}): {why}",
        remedy=remedy,
        place=place(subject.plan.where, ()),
        source=reason.sources[0],
    )

"""One judgment of a cluster: by its plan, and by its account."""

from collections.abc import Callable

from trainshed.checks import judge
from trainshed.checks.judging import as_owner_says, finding_of
from trainshed.checks.rule import all_rules
from trainshed.checks.rules.findings import UNKNOWN, unknown_about_the_account
from trainshed.containers.drivers import DRIVER_RULES
from trainshed.findings import Finding
from trainshed.preflight.asking import ask_account
from trainshed.preflight.rule import Subject, account_rules
from trainshed.preflight.rules.credentials import WHOSE


def require_credentials(subject: Subject) -> None:
    """Ask whose the credentials are, before anything that takes long.

    Raises:
        BadCredentials: there are none that AWS takes.
        TrainshedError: AWS cannot be reached at all.
    """
    ask_account(subject, only={WHOSE})


def judge_with_account(subject: Subject, show: Callable[[str], None]) -> tuple[Finding, ...]:
    """Return what our own rules find in a plan and in its account, the most severe first.

    Args:
        subject: the cluster and its account.
        show: is told what it waits for.

    Raises:
        BadCredentials: there are none that AWS takes.
        TrainshedError: AWS cannot be reached at all.
    """
    plan = subject.plan
    answers = ask_account(subject, show=show)
    answered = answers.offline_rules
    still_open = (each for each in judge(plan) if each.rule not in answered)
    unknown = unknown_about_the_account(plan.findings, (*account_rules(), *DRIVER_RULES))
    wrong_ids = (finding_of(plan.where, all_rules()[UNKNOWN], each) for each in unknown)
    return as_owner_says(plan.findings, (*still_open, *answers.findings, *wrong_ids))

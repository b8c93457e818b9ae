"""One judgment of a cluster: by its plan, its templates and its account."""

from collections.abc import Callable, Sequence

from trainshed.checks import judge_fleet
from trainshed.findings import Finding
from trainshed.findings.tools import ToolRun
from trainshed.plan import Fleet
from trainshed.preflight.asking import ask_account
from trainshed.preflight.rules.credentials import WHOSE
from trainshed.preflight.subject import Subject


def require_credentials(subject: Subject) -> None:
    """Ask whose the credentials are, before anything that takes long.

    Raises:
        BadCredentials: there are none that AWS takes.
        TrainshedError: AWS cannot be reached at all.
    """
    ask_account(subject, only={WHOSE})


def judge_with_account(
    subject: Subject,
    in_templates: Sequence[Finding],
    runs: Sequence[ToolRun],
    show: Callable[[str], None],
) -> list[Finding]:
    """Return what is found in a plan, its account and its templates; our own rules first.

    Args:
        subject: the cluster and its account.
        in_templates: what other tools found.
        runs: these tools.
        show: gets a text about what it waits for.

    Raises:
        BadCredentials: there are none that AWS takes.
        TrainshedError: AWS cannot be reached at all.
    """
    answers = ask_account(subject, show=show)
    judged = judge_fleet(
        Fleet(clusters=(subject.plan,)),
        (*answers.findings, *in_templates),
        runs,
        applied=answers.rules,
    )
    return [finding for finding in judged if finding.rule not in answers.offline_rules]

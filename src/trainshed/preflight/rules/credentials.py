"""Whose credentials these are."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.preflight.subject import Subject, accounts

WHOSE = "TS-ACC-003"


@rule(
    WHOSE,
    over=accounts,
    title="The credentials are of another account",
    when="the cluster file names its account",
    why="All other answers then come from an account to which the cluster is not deployed.",
    sources=("https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html",),
    severity=Severity.ERROR,
)
def other_account(subject: Subject) -> Iterator[Violation]:
    """GetCallerIdentity needs no permission."""
    own = subject.aws.call("sts", "get_caller_identity")["Account"]
    if subject.plan.account and subject.plan.account != own:
        yield Violation(
            path=("account",),
            message=f"the cluster is for account {subject.plan.account}, and the credentials are "
            f"of {own}",
            remedy="set AWS_PROFILE to a profile of that account, or correct account",
        )

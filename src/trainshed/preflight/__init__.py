"""What only the account knows of a cluster: one rule, one function, the IAM actions it needs."""

from trainshed.preflight.asking import ask_account
from trainshed.preflight.judging import judge_with_account, require_credentials
from trainshed.preflight.policy import read_only_policy
from trainshed.preflight.shared_answers import SharedAnswers
from trainshed.preflight.subject import Subject

__all__ = [
    "SharedAnswers",
    "Subject",
    "ask_account",
    "judge_with_account",
    "read_only_policy",
    "require_credentials",
]

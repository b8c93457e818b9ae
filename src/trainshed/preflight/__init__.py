"""What only the account knows of a cluster: one rule, one function, the IAM actions it needs."""

from trainshed.preflight.asking import ask_account
from trainshed.preflight.judging import judge_with_account, require_credentials
from trainshed.preflight.policy import read_only_policy
from trainshed.preflight.rule import AccountRule, Subject, account_rules
from trainshed.preflight.shared_answers import SharedAnswers

__all__ = [
    "AccountRule",
    "SharedAnswers",
    "Subject",
    "account_rules",
    "ask_account",
    "judge_with_account",
    "read_only_policy",
    "require_credentials",
]

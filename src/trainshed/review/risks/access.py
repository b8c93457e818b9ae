"""To whom a policy statement gives access, beyond the account itself."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from trainshed.review.differences import Statement
from trainshed.review.model import Level
from trainshed.review.permissions import ANYONE

_ACCOUNT = re.compile(r"^AWS:(?:arn:[^:]*:(?:iam|sts)::)?(?P<account>\d{12})(?::|$)")
# Providers of identities to whom everybody can sign up; a condition on the subject says who is
# meant: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_create_for-idp_oidc.html
_SIGNED_IN = "Federated:"
_OPEN_PROVIDER = re.compile(r"oidc-provider/(token\.actions\.githubusercontent\.com|gitlab\.com)")
# Subjects that are everybody of such a provider.
_EVERYBODY = ("repo:anybody/anything:ref:refs/heads/any", "project_path:anybody/anything:ref")


def anyone(statement: Statement) -> Level | None:
    """Return how dangerous the principals of a statement are."""
    if statement.principals.inverted or {*ANYONE} & {*statement.principals.names}:
        return Level.MEDIUM if statement.condition else Level.HIGH
    open_to_all = any(
        name.startswith(_SIGNED_IN) and _OPEN_PROVIDER.search(name)
        for name in statement.principals.names
    )
    return Level.HIGH if open_to_all and not _names_a_subject(statement.condition) else None


def is_of_another_account(statement: Statement, account: str) -> bool:
    """Return whether a statement is for another account than that of its stack.

    Args:
        statement: of a policy.
        account: of the stack; no account where the app leaves that open.
    """
    found = (_ACCOUNT.match(name) for name in statement.principals.names)
    return any(each and each["account"] != account for each in found)


def assumes(statement: Statement) -> bool:
    """Return whether a statement lets somebody have the permissions of a role."""
    return any(action.lower().startswith("sts:") for action in statement.actions.names)


def _names_a_subject(condition: Any) -> bool:
    """Return whether a condition is met by few of those who may sign in."""
    subjects = list(_subjects(condition))
    return bool(subjects) and not any(
        fnmatchcase(everybody, str(subject)) for subject in subjects for everybody in _EVERYBODY
    )


def _subjects(condition: Any) -> Iterator[Any]:
    for keys in condition.values() if isinstance(condition, dict) else ():
        for key, values in keys.items() if isinstance(keys, dict) else ():
            if str(key).endswith((":sub", ":repository", ":repository_owner", ":project_path")):
                yield from values if isinstance(values, list) else [values]

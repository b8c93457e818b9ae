"""Whether AWS Batch tries a job again whose attempt failed.

API reference, EvaluateOnExit: all conditions of an entry must match, the first entry that matches
decides, and if none does, the job is tried again; a pattern may end with an asterisk, and is
otherwise matched as a whole. Inferred: a condition on what an attempt does not have, for instance
an exit code, is matched against an empty text, so that `*` matches it: the user guide ends its
lists with `{"onReason": "*", "action": "EXIT"}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is known of an attempt that failed.

    Attributes:
        exit_code: of the container; None when it never ran.
        reason: of the container.
        status_reason: of the attempt.
    """

    exit_code: int | None
    reason: str | None
    status_reason: str | None


def is_tried_again(rules: Sequence[Mapping[str, str]], failure: Failure) -> bool:
    """Return what the entries of `evaluateOnExit` say of a failure, while attempts remain."""
    facts = {
        "onExitCode": "" if failure.exit_code is None else str(failure.exit_code),
        "onReason": failure.reason or "",
        "onStatusReason": failure.status_reason or "",
    }
    for rule in rules:
        patterns = {name: rule[name] for name in facts if rule.get(name) is not None}
        if all(_matches(pattern, facts[name]) for name, pattern in patterns.items()):
            return rule["action"].upper() == "RETRY"
    return True


def _matches(pattern: str, text: str) -> bool:
    if pattern.endswith("*"):
        return text.startswith(pattern[:-1])
    return text == pattern

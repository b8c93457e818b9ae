"""Whether a policy lets an AWS service in; its conditions are not evaluated."""

from collections.abc import Mapping
from typing import Any


def statements_of(policy: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a policy's statements, of which a document may have a single one without a list."""
    statements = policy.get("Statement", [])
    return statements if isinstance(statements, list) else [statements]


def lets_in(policy: Mapping[str, Any], service: str) -> bool:
    """Whether a statement allows a service something.

    Args:
        policy: a trust policy, or that of a resource.
        service: for instance `codebuild.amazonaws.com`.
    """
    for statement in statements_of(policy):
        principal = statement.get("Principal", {})
        services = principal.get("Service", []) if isinstance(principal, dict) else []
        named = service in ([services] if isinstance(services, str) else services)
        if named and statement["Effect"] == "Allow":
            return True
    return False

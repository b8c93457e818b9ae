"""Calls of functions that services of AWS make, as alarms and rules do.

Lambda developer guide, "Using resource-based policies": a function is called only if its policy
lets the service in, for what calls it if the policy names one; if not, nobody hears of it.
"""

from fnmatch import fnmatchcase
from typing import Any

from moto.backends import get_backend

from embedded_aws.actions import Refusal


def call_from(service: str, source_arn: str, function_arn: str, event: str) -> bool:
    """Call a function, and do not wait for it.

    Args:
        service: its principal, for instance `events.amazonaws.com`.
        source_arn: ARN of what calls, in the account and region of the function.
        function_arn: ARN of the function.
        event: the function's, which is JSON unless the sender made a mistake.

    Returns:
        whether it is called.
    """
    region, account = source_arn.split(":")[3:5]
    functions = get_backend("lambda")[account][region].list_functions()
    found = next((each for each in functions if each.function_arn == function_arn), None)
    if found is None or not any(
        _lets_in(statement, service, source_arn) for statement in found.policy.statements
    ):
        return False
    try:
        found.invoke(event, {"x-amz-invocation-type": "Event"}, {})
    except Refusal:
        return False
    return True


def _lets_in(statement: dict[str, Any], service: str, source_arn: str) -> bool:
    source = statement.get("Condition", {}).get("ArnLike", {}).get("AWS:SourceArn", source_arn)
    return (
        statement.get("Effect") == "Allow"
        and statement.get("Principal") == {"Service": service}
        and fnmatchcase(source_arn, source)
    )

"""The retention periods that CloudWatch Logs knows. [S] API reference, PutRetentionPolicy."""

from typing import Any

from trainshed.offline.services.actions import Call, Refusal, action

_DAYS = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827),
    *(2192, 2557, 2922, 3288, 3653),
)


@action("logs", "PutRetentionPolicy")
def put_retention_policy(call: Call) -> Any:
    """Set a log group's retention to one of the known periods."""
    days = call.params["retentionInDays"]
    if days not in _DAYS:
        raise Refusal(
            "InvalidParameterException",
            f"retentionInDays {days} must be one of {', '.join(map(str, _DAYS))}.",
        )
    return call.moto()

"""The targets of EventBridge rules.

EventBridge API reference, PutTargets and "Permissions for Amazon EventBridge": a rule has at most
five targets; Lambda, SNS, SQS and log groups permit EventBridge by their own policies; other
targets need a role. Inferred: the exact words.
"""

from typing import Any

from embedded_aws.actions import Call, Refusal, action

_MAXIMUM = 5
_BY_POLICY = ("lambda", "logs", "sns", "sqs")


@action("events", "PutTargets")
def put_targets(call: Call) -> Any:
    """Add targets to a rule."""
    wanted = call.params["Targets"]
    for target in wanted:
        service = target["Arn"].split(":")[2:3]
        if service and service[0] not in _BY_POLICY and "RoleArn" not in target:
            raise Refusal(
                "ValidationException",
                f"RoleArn is required for target {target['Arn']}.",
            )
    bus = call.backend("events").event_buses.get(call.params.get("EventBusName", "default"))
    rule = bus.rules.get(call.params["Rule"]) if bus else None
    known = {target["Id"] for target in rule.targets} if rule else set()
    if len(known | {target["Id"] for target in wanted}) > _MAXIMUM:
        raise Refusal(
            "LimitExceededException",
            "The requested resource exceeds the maximum number allowed.",
        )
    return call.moto()

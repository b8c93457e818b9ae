"""What an alarm tells a function of Lambda when its state changes.

CloudWatch user guide, "Invoke a Lambda function from an alarm": the principal that the function's
policy lets in, and the event, of which some members are here. A function whose policy does not let
CloudWatch in is not called, and there is no error.
"""

import json
from fnmatch import fnmatchcase
from typing import Any

from moto.backends import get_backend

_SERVICE = "lambda.alarms.cloudwatch.amazonaws.com"


def call(alarm: Any, before: str, function_arn: str) -> None:
    """Call a function, and do not wait for it.

    Args:
        alarm: moto's.
        before: its former state.
        function_arn: of the function, in the alarm's account and region.
    """
    region, account = alarm.alarm_arn.split(":")[3:5]
    functions = get_backend("lambda")[account][region].list_functions()
    found = next((each for each in functions if each.function_arn == function_arn), None)
    if found is None or not any(
        _lets_in(statement, alarm.alarm_arn) for statement in found.policy.statements
    ):
        return
    event = {
        "source": "aws.cloudwatch",
        "alarmArn": alarm.alarm_arn,
        "accountId": account,
        "time": f"{alarm.state_updated_timestamp:%Y-%m-%dT%H:%M:%S}.000+0000",
        "region": region,
        "alarmData": {
            "alarmName": alarm.name,
            "state": {"value": alarm.state_value, "reason": alarm.state_reason},
            "previousState": {"value": before},
            "configuration": {"description": alarm.description},
        },
    }
    found.invoke(json.dumps(event), {"x-amz-invocation-type": "Event"}, {})


def _lets_in(statement: dict[str, Any], alarm_arn: str) -> bool:
    source = statement.get("Condition", {}).get("ArnLike", {}).get("AWS:SourceArn", alarm_arn)
    return (
        statement.get("Effect") == "Allow"
        and statement.get("Principal") == {"Service": _SERVICE}
        and fnmatchcase(alarm_arn, source)
    )

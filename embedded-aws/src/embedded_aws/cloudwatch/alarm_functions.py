"""What an alarm tells a function of Lambda when its state changes.

CloudWatch user guide, "Invoke a Lambda function from an alarm": the principal that the function's
policy lets in, and the event, of which some members are here. A function whose policy does not let
CloudWatch in is not called, and there is no error.
"""

import json
from typing import Any

from embedded_aws.lambda_.service_calls import call_from

_SERVICE = "lambda.alarms.cloudwatch.amazonaws.com"


def call(alarm: Any, before: str, function_arn: str) -> None:
    """Call a function, and do not wait for it.

    Args:
        alarm: moto's.
        before: its former state.
        function_arn: of the function, in the alarm's account and region.
    """
    region, account = alarm.alarm_arn.split(":")[3:5]
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
    call_from(_SERVICE, alarm.alarm_arn, function_arn, json.dumps(event))

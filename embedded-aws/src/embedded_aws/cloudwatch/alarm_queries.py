"""Which alarms are described.

CloudWatch API reference, DescribeAlarms: all filters that are given count, and without AlarmTypes
only metric alarms are returned. moto looks at one filter, and at no type.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Call, action


@action("cloudwatch", "DescribeAlarms")
def describe_alarms(call: Call) -> Any:
    """Describe alarms of the types that are asked for, by all filters."""
    types = call.params.get("AlarmTypes") or ["MetricAlarm"]
    wanted = [
        each
        for each in call.backend("cloudwatch").describe_alarms()
        if _is_wanted(each, call.params)
    ]
    return {
        "MetricAlarms": [each for each in wanted if each.rule is None and "MetricAlarm" in types],
        "CompositeAlarms": [each for each in wanted if each.rule and "CompositeAlarm" in types],
    }


def _is_wanted(alarm: Any, params: Mapping[str, Any]) -> bool:
    """Say whether all filters let moto's alarm through."""
    names, state = params.get("AlarmNames"), params.get("StateValue")
    actions = (*alarm.alarm_actions, *alarm.ok_actions, *alarm.insufficient_data_actions)
    prefix = params.get("ActionPrefix", "")
    return (
        (not names or alarm.name in names)
        and (not state or alarm.state_value == state)
        and alarm.name.startswith(params.get("AlarmNamePrefix", ""))
        and (not prefix or any(each.startswith(prefix) for each in actions))
    )

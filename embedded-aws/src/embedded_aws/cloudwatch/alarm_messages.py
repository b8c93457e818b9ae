"""Whom an alarm tells when its state changes, and what it tells SNS.

SNS developer guide, "Amazon CloudWatch alarms", and CloudWatch user guide, "Notifying users on
alarm changes": JSON with these members, and the subject of e-mails. Inferred: the form of the time.
"""

import json
from typing import Any

from embedded_aws.cloudwatch.alarm_functions import call
from embedded_aws.sns.service_messages import publish_from

_SERVICE = "cloudwatch.amazonaws.com"
_SNS, _LAMBDA = "arn:aws:sns:", "arn:aws:lambda:"


def tell(alarm: Any, before: str, account: str, region: str) -> None:
    """Tell the new state of an alarm to its topics and functions of that state.

    Args:
        alarm: moto's.
        before: its former state.
        account: of the alarm.
        region: of the alarm.
    """
    actions = {
        "ALARM": alarm.alarm_actions,
        "INSUFFICIENT_DATA": alarm.insufficient_data_actions,
        "OK": alarm.ok_actions,
    }
    if not alarm.actions_enabled:
        return
    for wanted in actions[alarm.state_value]:
        if wanted.startswith(_LAMBDA):
            call(alarm, before, wanted)
        elif wanted.startswith(_SNS):
            publish_from(
                _SERVICE,
                wanted,
                _message(alarm, before, account, region),
                f'{alarm.state_value}: "{alarm.name}" in {region}',
            )


def _message(alarm: Any, before: str, account: str, region: str) -> str:
    return json.dumps(
        {
            "AlarmName": alarm.name,
            "AlarmDescription": alarm.description,
            "AWSAccountId": account,
            "AlarmConfigurationUpdatedTimestamp": _time(alarm.configuration_updated_timestamp),
            "NewStateValue": alarm.state_value,
            "NewStateReason": alarm.state_reason,
            "StateChangeTime": _time(alarm.state_updated_timestamp),
            "Region": region,
            "AlarmArn": alarm.alarm_arn,
            "OldStateValue": before,
            "OKActions": alarm.ok_actions,
            "AlarmActions": alarm.alarm_actions,
            "InsufficientDataActions": alarm.insufficient_data_actions,
            "Trigger": _trigger(alarm),
        }
    )


def _trigger(alarm: Any) -> dict[str, Any]:
    judged = {
        "Period": alarm.period,
        "EvaluationPeriods": alarm.evaluation_periods,
        "DatapointsToAlarm": alarm.datapoints_to_alarm or alarm.evaluation_periods,
        "ComparisonOperator": alarm.comparison_operator,
        "Threshold": alarm.threshold,
        "TreatMissingData": alarm.treat_missing_data or "missing",
    }
    if alarm.metric_data_queries:
        return judged | {
            "Metrics": [
                {"Id": each.id, "Expression": each.expression} for each in alarm.metric_data_queries
            ]
        }
    return judged | {
        "MetricName": alarm.metric_name,
        "Namespace": alarm.namespace,
        "Statistic": alarm.statistic,
        "Dimensions": [{"name": each.name, "value": each.value} for each in alarm.dimensions],
    }


def _time(moment: Any) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000+0000"

"""Events that services of AWS send, and where rules send them.

EventBridge user guide, "Using resource-based policies": a function or a topic gets an event only if
its own policy lets events.amazonaws.com in, a function for the rule if the policy names one; if
not, nothing happens and there is no error. "Input transformation": what is sent in its place.
"Monitoring Amazon EventBridge": the metrics of a rule. Targets other than functions and topics get
no events here.
"""

import json
import time
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from moto.backends import get_backend
from moto.events.utils import EventMessageType, EventTemplateParser
from moto.moto_api._internal import mock_random

from embedded_aws.clock import now
from embedded_aws.cloudwatch.recording import record
from embedded_aws.hooks import ServiceEvent, when_event_sent
from embedded_aws.sns.service_messages import publish_from

_SERVICE = "events.amazonaws.com"


@when_event_sent
def _send(sent: ServiceEvent) -> None:
    event: EventMessageType = {
        "version": "0",
        "id": str(mock_random.uuid4()),
        "detail-type": sent.detail_type,
        "source": sent.source,
        "account": sent.account,
        "time": now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": sent.region,
        "resources": [*sent.resources],
        "detail": {**sent.detail},
    }
    events = get_backend("events")[sent.account][sent.region]
    for rule in list(events.event_buses["default"].rules.values()):
        pattern = rule.event_pattern
        # In moto a rule with a schedule and no pattern matches everything.
        if rule.state == "ENABLED" and pattern.get_pattern() and pattern.matches_event(event):
            _deliver(rule, event, sent.account, sent.region)


def _deliver(rule: Any, event: EventMessageType, account: str, region: str) -> None:
    functions = {
        each.function_arn: each for each in get_backend("lambda")[account][region].list_functions()
    }
    failed = 0
    for target in rule.targets:
        arn = target["Arn"]
        if arn in functions:
            _call(functions[arn], rule.arn, event)
        elif arn.startswith("arn:aws:sns:"):
            failed += not publish_from(_SERVICE, arn, _text(target, event))
    record(
        account,
        region,
        namespace="AWS/Events",
        dimensions={"RuleName": rule.name},
        TriggeredRules=1,
        Invocations=len(rule.targets),
        **({"FailedInvocations": failed} if failed else {}),
    )


def _text(target: Mapping[str, Any], event: EventMessageType) -> str:
    transformer = target.get("InputTransformer")
    if not transformer:
        return json.dumps(event)
    text = EventTemplateParser.parse(
        transformer["InputTemplate"],
        transformer.get("InputPathsMap", {}),
        {**event, "ingestion-time": time.time()},
    )
    # A template that is a text in quotes is sent with them.
    return json.dumps(text)


def _call(function: Any, rule_arn: str, event: EventMessageType) -> None:
    if any(_lets_in(statement, rule_arn) for statement in function.policy.statements):
        function.invoke(json.dumps(event), {"x-amz-invocation-type": "Event"}, {})


def _lets_in(statement: dict[str, Any], rule_arn: str) -> bool:
    source = statement.get("Condition", {}).get("ArnLike", {}).get("AWS:SourceArn", rule_arn)
    return (
        statement.get("Effect") == "Allow"
        and statement.get("Principal") == {"Service": _SERVICE}
        and fnmatchcase(rule_arn, source)
    )

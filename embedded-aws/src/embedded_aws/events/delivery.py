"""Events that services of AWS send, and where rules send them.

EventBridge user guide, "Using resource-based policies": a function or a topic gets an event only if
its own policy lets events.amazonaws.com in, a function for the rule if the policy names one; if
not, there is no error. "Monitoring Amazon EventBridge": the metrics of a rule, which count that.
Targets other than functions and topics get no events here.
"""

from typing import Any

from moto.backends import get_backend
from moto.events.utils import EventMessageType
from moto.moto_api._internal import mock_random

from embedded_aws.clock import now
from embedded_aws.cloudwatch.recording import record
from embedded_aws.events.target_input import target_input
from embedded_aws.hooks import ServiceEvent, when_event_sent
from embedded_aws.lambda_.service_calls import call_from
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
    failed = 0
    for target in rule.targets:
        arn, text = target["Arn"], target_input(target, rule, event)
        if arn.startswith("arn:aws:lambda:"):
            failed += not call_from(_SERVICE, rule.arn, arn, text)
        elif arn.startswith("arn:aws:sns:"):
            failed += not publish_from(_SERVICE, arn, text)
    record(
        account,
        region,
        namespace="AWS/Events",
        dimensions={"RuleName": rule.name},
        TriggeredRules=1,
        Invocations=len(rule.targets),
        **({"FailedInvocations": failed} if failed else {}),
    )

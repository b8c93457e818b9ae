"""Messages that services of AWS publish to topics, as alarms and rules do.

SNS developer guide, "Enable compatibility between event sources from AWS services and encrypted
topics": a message is lost, and nobody hears of it, where the topic's policy does not let the
service in, where the policy of its key does not, and where the key is AWS's own. A topic's default
policy lets in CloudWatch of its account, and EventBridge not (EventBridge user guide, "Amazon SNS
permissions").
"""

import json
import re
from typing import Any

from moto.backends import get_backend

from embedded_aws.iam.service_principals import lets_in, statements_of

_TOPIC = re.compile(r"arn:aws:sns:([a-z0-9-]+):(\d{12}):[\w.-]+")
_OF_OWNER = ("cloudwatch.amazonaws.com",)


def publish_from(service: str, topic_arn: str, message: str, subject: str | None = None) -> bool:
    """Publish a message of a service.

    Args:
        service: its principal, for instance `events.amazonaws.com`.
        topic_arn: ARN of the topic, which need not be there.
        message: its text.
        subject: of e-mails; None for none.

    Returns:
        whether it arrived.
    """
    topic = _topic(topic_arn)
    if topic is None or not (_lets_publish(topic, service) and _may_encrypt(topic, service)):
        return False
    topic.publish(message, subject=subject)
    return True


def _topic(arn: str) -> Any:
    if found := _TOPIC.fullmatch(arn):
        region, account = found.groups()
        regions = get_backend("sns")[account]
        if region in regions:
            return regions[region].topics.get(arn)
    return None


def _lets_publish(topic: Any, service: str) -> bool:
    policy = topic._policy_json
    of_owner = any(
        "AWS:SourceOwner" in str(statement.get("Condition")) for statement in statements_of(policy)
    )
    return lets_in(policy, service) or (of_owner and service in _OF_OWNER)


def _may_encrypt(topic: Any, service: str) -> bool:
    key_id = topic.kms_master_key_id
    if not key_id:
        return True
    region, account = topic.arn.split(":")[3:5]
    kms = get_backend("kms")[account][region]
    key = kms.keys.get(kms.any_id_to_key_id(key_id))
    return key is not None and lets_in(json.loads(key.policy), service)

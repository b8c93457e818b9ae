"""An encrypted SNS topic to which services of AWS publish, and who gets its messages."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct


def encrypted_topic(
    scope: Construct, *, display_name: str, key: kms.IKey, addresses: Sequence[str]
) -> sns.Topic:
    """Declare a topic, as the child `Topic`, and subscribe e-mail addresses to it.

    Args:
        scope: parent.
        display_name: sender of the e-mails, for people.
        key: encrypts messages. CDK cannot change the policy of a key that exists.
        addresses: e-mail addresses; each confirms its subscription once.
    """
    topic = sns.Topic(scope, "Topic", master_key=key, enforce_ssl=True, display_name=display_name)
    for number, address in enumerate(addresses):
        sns.CfnSubscription(
            scope,
            f"Address{number}",
            topic_arn=topic.topic_arn,
            protocol="email",
            endpoint=address,
        )
    return topic


def let_publish(
    topic: sns.Topic,
    key: kms.IKey,
    *,
    sid: str,
    service: str,
    conditions: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Let a service of AWS publish to a topic, which takes its key, too.

    SNS developer guide, "Enable compatibility between event sources from AWS services and encrypted
    topics": no service can use AWS's own key for SNS.

    Args:
        topic: encrypted.
        key: of the topic.
        sid: name of the statement.
        service: its principal.
        conditions: of both statements. For EventBridge none: it gives SNS nothing to compare, so
            that a statement with one would drop every message in silence (EventBridge user guide,
            "Amazon SNS permissions").
    """
    principal = iam.ServicePrincipal(service, conditions=conditions)
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            sid=sid,
            principals=[principal],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
        )
    )
    key.add_to_resource_policy(
        iam.PolicyStatement(
            sid=sid,
            principals=[principal],
            actions=["kms:Decrypt", "kms:GenerateDataKey*"],
            resources=["*"],
        )
    )

"""Calls that EventBridge Scheduler makes, with a role that may make no other ones."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from trainshed_constructs.wildcards import acknowledge_wildcards, own_arn

_Schedule = scheduler.CfnSchedule
# SNS API reference, Publish: a subject has less than 100 characters.
_SUBJECT = 99


def scheduler_role(scope: Construct, *, description: str) -> iam.Role:
    """Declare the role of schedules, as the child `Role`; it may do nothing yet.

    Args:
        scope: parent.
        description: for people.
    """
    return iam.Role(
        scope,
        "Role",
        description=description,
        # EventBridge Scheduler user guide, "Cross-service confused deputy prevention".
        assumed_by=iam.ServicePrincipal(
            "scheduler.amazonaws.com",
            conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
        ),
    )


def allow(
    role: iam.Role,
    sid: str,
    actions: str | tuple[str, ...],
    resource: str,
    wildcard: str | None = None,
    conditions: Mapping[str, Any] | None = None,
) -> None:
    """Let schedules do something.

    Args:
        role: theirs.
        sid: name of the statement.
        actions: of IAM.
        resource: ARN that they need it on.
        wildcard: why that has a wildcard; None when it has none.
        conditions: of the statement.
    """
    role.add_to_policy(
        iam.PolicyStatement(
            sid=sid,
            actions=[actions] if isinstance(actions, str) else [*actions],
            resources=[resource],
            conditions=conditions,
        )
    )
    if wildcard:
        acknowledge_wildcards(role, {resource: wildcard})


def allow_messages(role: iam.Role, topic_arn: str) -> None:
    """Let schedules tell people.

    Args:
        role: of the schedules.
        topic_arn: of the SNS topic for people, which is encrypted.
    """
    allow(role, "Tell", "sns:Publish", topic_arn)
    allow(
        role,
        "Encrypt",
        ("kms:Decrypt", "kms:GenerateDataKey"),
        own_arn("kms", "key/*"),
        "the key of the topic, which may be yours; the condition admits messages of SNS only",
        conditions={"StringEquals": {"kms:ViaService": f"sns.{Aws.REGION}.amazonaws.com"}},
    )


def action_of(service: str, action: str) -> str:
    """Return the ARN of a target that is an action of any service.

    Args:
        service: for instance `sns`.
        action: for instance `publish`.
    """
    return f"arn:{Aws.PARTITION}:scheduler:::aws-sdk:{service}:{action}"


def schedule_call(
    scope: Construct,
    construct_id: str,
    *,
    role: iam.Role,
    expression: str,
    target: str,
    call: Mapping[str, Any],
    zone: str = "UTC",
    until: datetime | None = None,
) -> None:
    """Declare a schedule. A call that fails is made again for a day.

    Follows the EventBridge Scheduler user guide, "Using universal targets",
    "Using templated targets" and "Schedule types".

    Args:
        scope: parent.
        construct_id: id within the parent.
        role: with which the call is made.
        expression: when.
        target: ARN of what is called.
        call: its input.
        zone: time zone of the expression.
        until: when it ends, in UTC; None for never.
    """
    # CloudFormation wants milliseconds, CreateSchedule does not (cdk-preflight's rule
    # pf-scheduler-date-format, measured on AWS).
    end = f"{until:%Y-%m-%dT%H:%M:%S.000Z}" if until else None
    # L1: the L2 targets come in one module that loads every service which can be one.
    schedule = _Schedule(
        scope,
        construct_id,
        schedule_expression=expression,
        schedule_expression_timezone=zone,
        end_date=end,
        flexible_time_window=_Schedule.FlexibleTimeWindowProperty(mode="OFF"),
        target=_Schedule.TargetProperty(
            arn=target,
            role_arn=role.role_arn,
            input=Stack.of(scope).to_json_string(call),
        ),
    )
    # The policy of the role, too.
    schedule.node.add_dependency(role)


def schedule_message(
    scope: Construct,
    construct_id: str,
    *,
    role: iam.Role,
    moment: datetime,
    topic_arn: str,
    subject: str,
    message: str,
) -> None:
    """Declare a schedule that tells people something once.

    Args:
        scope: parent.
        construct_id: id within the parent.
        role: of the schedule, which `allow_messages` has let do that.
        moment: when, in UTC. Nobody is told when it has passed (inferred: EventBridge Scheduler
            refuses `at` then, and takes a cron expression that is never due).
        topic_arn: of the SNS topic for people.
        subject: of the message; what is longer than SNS takes is cut off.
        message: the text.
    """
    schedule_call(
        scope,
        construct_id,
        role=role,
        expression=f"cron({moment:%-M %-H %-d %-m} ? {moment:%Y})",
        target=action_of("sns", "publish"),
        call={"TopicArn": topic_arn, "Subject": subject[:_SUBJECT], "Message": message},
    )

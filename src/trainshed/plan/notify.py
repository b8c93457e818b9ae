"""Who is told what happens to a cluster."""

from dataclasses import dataclass

from trainshed.plan.notes import Notes

_PAGE = "docs/monitoring.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyPlan:
    """Who is told what happens to a cluster.

    Attributes:
        addresses: e-mail addresses that a topic of the cluster sends to; none with `topic_arn`.
        topic_arn: ARN of an SNS topic that exists, to use instead; None for one of the cluster.
    """

    addresses: tuple[str, ...]
    topic_arn: str | None


def plan_notify(notes: Notes, region: str | None) -> NotifyPlan | None:
    """Take the addresses or the topic as asked; None when nobody is told.

    Args:
        notes: for problems and decisions.
        region: of the cluster, if it is known.
    """
    asked = notes.spec.notify
    if not asked:
        notes.decide("notifications", "nobody", "notify is not given")
        return None
    if not isinstance(asked, str):
        notes.decide(
            "notifications",
            ", ".join(asked),
            "as asked; each address confirms its subscription by the link in its first message",
        )
        return NotifyPlan(addresses=asked, topic_arn=None)
    topic_region = asked.split(":")[3]
    # CloudWatch API reference, PutMetricAlarm: the topic of an alarm is in the alarm's region.
    if region and topic_region != region:
        notes.problem("notify", f"is a topic of {topic_region}; give one of {region}")
    notes.decide(
        "notifications", asked, f"as asked; its policy must let services of AWS publish: {_PAGE}"
    )
    return NotifyPlan(addresses=(), topic_arn=asked)

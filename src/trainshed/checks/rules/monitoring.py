"""Whether people hear of what a cluster's alarms find."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import ClusterPlan


@rule(
    "TS-MON-001",
    over=clusters,
    title="Alarms notify nobody",
    severity=Severity.INFO,
    why="""
The alarms of the cluster change their state, which the console, `trainshed status` and the API
show. Without `notify` nobody gets a message, also not of a queue that is blocked or of a Capacity
Block that ends.
""",
    sources=(
        "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Alarms.html",
    ),
    example="instance: {type: trn1.32xlarge}",
)
def alarms_notify_nobody(plan: ClusterPlan) -> Iterator[Violation]:
    """Somebody should hear of an alarm."""
    if plan.monitoring and plan.notify is None:
        yield Violation(
            path=("notify",),
            message="alarms are in the console and in trainshed status, and notify nobody",
            remedy="name e-mail addresses: notify: [ml-platform@example.com]",
        )

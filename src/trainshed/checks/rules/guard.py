"""What to know of what stops the nodes of a cluster by itself."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.day import now
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import ClusterPlan

_TAGS = "https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/activating-tags.html"
_LAG = "https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-best-practices.html"
_SCHEDULES = "https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html"


@rule(
    "TS-GRD-001",
    over=clusters,
    title="The cluster has expired",
    severity=Severity.ERROR,
    why="""
Its nodes have been stopped, and a new deployment fails: EventBridge Scheduler takes no one-time
schedule in the past.
""",
    basis=Basis.INFERRED,
    sources=(_SCHEDULES,),
    example="""
instance: {type: trn1.32xlarge}
guard: {expires: "2020-12-31T18:00Z"}
""",
)
def expired(plan: ClusterPlan) -> Iterator[Violation]:
    """A cluster should not outlive its end."""
    expires_at = plan.guard.expires_at
    if expires_at and expires_at <= now():
        yield Violation(
            path=("guard", "expires"),
            message=f"the cluster expired at {expires_at:%Y-%m-%d %H:%M} UTC: its nodes are "
            "stopped, and its storage is billed",
            remedy=f"tear it down: trainshed teardown {plan.name}; or postpone guard.expires and "
            "deploy",
        )


@rule(
    "TS-GRD-003",
    over=clusters,
    title="A budget counts nothing until a tag is activated",
    severity=Severity.INFO,
    why="""
AWS Budgets tells costs apart by tags that the account which pays has activated for cost allocation.
That is done once for all clusters, takes up to a day, and does not count what was spent before.
Budgets are up to date to half a day.
""",
    sources=(_TAGS, _LAG),
    example="""
instance: {type: trn1.32xlarge}
notify: [ml-platform@example.com]
guard: {budget: {monthly_usd: 20000}}
""",
)
def uncounted(plan: ClusterPlan) -> Iterator[Violation]:
    """Costs are told apart by an activated tag."""
    if plan.guard.budget:
        yield Violation(
            path=("guard", "budget"),
            message=f"the budget counts what has the tag trainshed:cluster={plan.name} since "
            "the tag was activated: nodes and their volumes, not shared storage or the network",
            remedy="activate it once, in the account that pays: aws ce "
            "update-cost-allocation-tags-status --cost-allocation-tags-status "
            "TagKey=trainshed:cluster,Status=Active",
        )


@rule(
    "TS-GRD-002",
    over=clusters,
    title="Nobody is told before the guard acts",
    severity=Severity.INFO,
    why="Without `notify`, the nodes stop at `guard.expires` without a message a day before.",
    sources=(_SCHEDULES,),
    example="""
instance: {type: trn1.32xlarge}
guard: {expires: "2126-12-31T18:00Z"}
""",
)
def untold(plan: ClusterPlan) -> Iterator[Violation]:
    """People should know a day before."""
    if plan.guard.expires_at and not plan.notify:
        yield Violation(
            path=("guard",),
            message=f"nobody is told that the nodes stop at {plan.guard.expires_at:%Y-%m-%d %H:%M} "
            "UTC",
            remedy="give e-mail addresses in notify",
        )

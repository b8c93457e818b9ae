"""What stops the nodes of a cluster by itself."""

import aws_cdk as cdk

from trainshed.guard.outputs import (
    ENDED_AT_EXPIRY,
    EXPIRES_OUTPUT,
    HOURS_OUTPUT,
    IDLE_OUTPUT,
    START_OUTPUT,
    TIME,
)
from trainshed.plan import ClusterPlan
from trainshed_constructs import ClusterBudget, IdleNodes, JobEnder, NodeSchedules
from trainshed_constructs.guard.node_switch import NodeSwitch


def add_guard(
    stack: cdk.Stack,
    plan: ClusterPlan,
    switch: NodeSwitch,
    topic_arn: str | None,
    queue_arn: str | None,
) -> None:
    """Add the schedules that a cluster asks for, and outputs that say when they stop its nodes.

    Args:
        stack: of the cluster.
        plan: the cluster.
        switch: how its nodes are stopped and started.
        topic_arn: of the SNS topic for people; None when nobody is told.
        queue_arn: of the job queue of AWS Batch; None without one.
    """
    guard = plan.guard
    if guard.budget and topic_arn:
        ClusterBudget(
            stack,
            "Budget",
            cluster=plan.name,
            region=plan.region,
            monthly_usd=guard.budget.monthly_usd,
            at_percent=guard.budget.at_percent,
            topic_arn=topic_arn,
        )
    idle = guard.idle
    if idle:
        IdleNodes(
            stack,
            "Idle",
            cluster=plan.name,
            idle_minutes=idle.minutes,
            utilization=idle.utilization,
            full_utilization=idle.full_utilization,
            topic_arn=topic_arn,
            switch=switch if idle.scales_down else None,
        )
    outputs = {}
    if guard.stops_nodes or (idle and idle.scales_down):
        outputs[START_OUTPUT] = "Command that starts the nodes again", f"aws {switch.command}"
    if idle and idle.scales_down:
        minutes = f"{idle.minutes}"
        outputs[IDLE_OUTPUT] = "After how many idle minutes the nodes are let go", minutes
    if guard.stops_nodes:
        outputs |= _add_schedules(stack, plan, switch, topic_arn, queue_arn)
    for name, (description, value) in outputs.items():
        cdk.CfnOutput(stack, name, description=f"{description} ({plan.name})", value=value)


def _add_schedules(
    stack: cdk.Stack,
    plan: ClusterPlan,
    switch: NodeSwitch,
    topic_arn: str | None,
    queue_arn: str | None,
) -> dict[str, tuple[str, str]]:
    """Add the schedules; return what outputs say of them."""
    guard, outputs = plan.guard, {}
    schedules = NodeSchedules(stack, "Guard", cluster=plan.name, switch=switch)
    if guard.expires_at:
        schedules.expire(guard.expires_at)
        if topic_arn:
            schedules.tell_before(guard.expires_at, topic_arn)
        if queue_arn:
            ender = JobEnder(
                stack,
                "JobEnd",
                cluster=plan.name,
                queue_arn=queue_arn,
                reason=f"{ENDED_AT_EXPIRY}{plan.name} was {guard.expires_at:%Y-%m-%d %H:%M} UTC: "
                "its nodes are stopped",
            )
            schedules.end_jobs(guard.expires_at, ender.function)
        outputs[EXPIRES_OUTPUT] = (
            "When the nodes are stopped for good",
            f"{guard.expires_at:{TIME}}",
        )
    if guard.working_hours:
        schedules.keep(guard.working_hours, until=guard.expires_at)
        outputs[HOURS_OUTPUT] = "When there are nodes", str(guard.working_hours)
    return outputs

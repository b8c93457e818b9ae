"""What stops the nodes of a cluster by itself."""

from dataclasses import dataclass
from datetime import datetime

from trainshed.guard.stop_times import StopTimes
from trainshed.guard.working_hours import WorkingHours
from trainshed.metrics import Metric, accelerator_metrics
from trainshed.nodes.cells import Cell
from trainshed.orchestrators import traits
from trainshed.plan.ami import AmiPlan
from trainshed.plan.capacity import CapacityKind, CapacityPlan
from trainshed.plan.notes import Notes
from trainshed.spec.guard import BudgetSpec, IdleAction

_TIME = "%Y-%m-%d %H:%M UTC"
# Of these, all time is paid for, with and without nodes: EC2 user guide, "Capacity Reservations
# pricing and billing" and "Capacity Blocks pricing and billing".
_PAID_ANYWAY = {
    CapacityKind.RESERVATION: "a reservation is billed with and without nodes",
    CapacityKind.CAPACITY_BLOCK: "a Capacity Block is paid for in whole, and its windows say when "
    "there are nodes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IdlePlan:
    """What happens when nodes are there and compute nothing.

    Attributes:
        minutes: after so many.
        scales_down: they go; people are told in any case, if there are some.
        utilization: how busy an accelerator is.
        full_utilization: its value when it is busy all the time.
    """

    minutes: int
    scales_down: bool
    utilization: Metric
    full_utilization: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardPlan:
    """What stops the nodes of a cluster by itself.

    Attributes:
        expires_at: when they are stopped for good; None for never.
        working_hours: in which they are there; None for always.
        budget: of which people are told; None for none.
        idle: what happens when they compute nothing; None for nothing.
    """

    expires_at: datetime | None = None
    working_hours: WorkingHours | None = None
    budget: BudgetSpec | None = None
    idle: IdlePlan | None = None

    @property
    def stops_nodes(self) -> bool:
        """It stops nodes at some time."""
        return bool(self.expires_at or self.working_hours)

    @property
    def stop_times(self) -> StopTimes:
        """When it stops nodes."""
        return StopTimes(
            expires_at=self.expires_at,
            working_hours=self.working_hours,
            idle_minutes=self.idle.minutes if self.idle and self.idle.scales_down else None,
        )


def plan_guard(notes: Notes, capacity: CapacityPlan, ami: AmiPlan | None) -> GuardPlan:
    """Take the times as asked.

    Args:
        notes: for problems and decisions.
        capacity: how nodes are bought.
        ami: of the nodes, if it is known.
    """
    asked, of_jobs = notes.spec.guard, traits(notes.spec.orchestrator)
    expires_at, hours = asked.expires_at, asked.working_hours
    if expires_at:
        notes.decide("expiry", f"{expires_at:{_TIME}}", f"as asked: {of_jobs.at_expiry}")
    if hours:
        if why := _PAID_ANYWAY.get(capacity.kind):
            notes.problem("guard.working_hours", f"{why}; leave it out")
        notes.decide(
            "working hours", hours.hours, f"as asked: outside of them, {of_jobs.when_stopped}"
        )
    if budget := asked.budget:
        if not notes.spec.notify:
            notes.problem("guard.budget", "tells nobody; give e-mail addresses in notify")
        notes.decide(
            "budget",
            f"{budget.monthly_usd:,} USD a month",
            f"as asked; people are told at {', '.join(f'{each} %' for each in budget.at_percent)} "
            "of it, once the clusters' tag is activated for cost allocation",
        )
    return GuardPlan(
        expires_at=expires_at,
        working_hours=hours.hours if hours else None,
        budget=budget,
        idle=_plan_idle(notes, capacity, ami),
    )


def _plan_idle(notes: Notes, capacity: CapacityPlan, ami: AmiPlan | None) -> IdlePlan | None:
    asked = notes.spec.guard.idle
    if asked is None:
        return None
    scales = asked.action is IdleAction.SCALE_DOWN
    keeps = traits(notes.spec.orchestrator).keeps_nodes or notes.spec.instance.nodes.min
    cell = Cell(ami.cell) if ami and ami.cell else None
    metrics = accelerator_metrics(cell.accelerator, cell.agent) if cell else None
    if not notes.spec.monitoring:
        notes.problem("guard.idle", "goes by what nodes send; leave monitoring on")
    if not keeps:
        notes.problem("guard.idle", "nodes go by themselves when no job needs them; leave it out")
    elif ami and not cell:
        notes.problem("guard.idle", "nodes of this AMI do not tell how busy they are; leave it out")
    if not (scales or notes.spec.notify):
        notes.problem("guard.idle", "tells nobody; give e-mail addresses in notify")
    if scales and (why := _PAID_ANYWAY.get(capacity.kind)):
        notes.problem("guard.idle.action", f"{why}; take notify")
    if metrics is None:
        return None
    then = "the nodes go" if scales else "people are told"
    notes.decide("idle nodes", f"{then} after {asked.minutes} minutes", "as asked")
    return IdlePlan(
        minutes=asked.minutes,
        scales_down=scales,
        utilization=metrics.utilization,
        full_utilization=metrics.full_utilization,
    )

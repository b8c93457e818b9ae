"""Jobs that a deployment ends, and for how long they are spared.

The part `risks` of an orchestrator has:

| name | has |
|---|---|
| `LAUNCHES_NODES` | the resource type that launches nodes |
| `RUNS_JOBS` | names of resource types that jobs go with, and what then happens to these |
| `changed` | yields the risks of a change to one that stays |
"""

from collections.abc import Iterator

from trainshed.orchestrators import Orchestrator, part
from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.risks.affected import GIVEN_UP, Affected

WAIT = "deploy when no job runs, or have jobs resume from their checkpoints"


def jobs_killed(affected: Affected) -> Iterator[Risk]:
    """Yield what ends jobs, of whichever orchestrator the resource is."""
    change = affected.change
    for risks in (part(orchestrator, "risks") for orchestrator in Orchestrator):
        if change.resource_type not in risks.RUNS_JOBS:
            continue
        if change.effect in GIVEN_UP:
            level = Level.HIGH if affected.remains else Level.MEDIUM
            it, consequence = risks.RUNS_JOBS[change.resource_type]
            yield killed(affected, level, f"{it} {affected.what_happens}: {consequence}")
        elif change.effect is Effect.CHANGED:
            yield from risks.changed(affected)


def killed(
    affected: Affected,
    level: Level,
    message: str,
    remedy: str = WAIT,
    spared_minutes: int | None = 0,
) -> Risk:
    """Return a risk for jobs; the remedy is to deploy when none runs, unless another is given."""
    return affected.risk(RiskKind.JOBS_KILLED, level, message, remedy, spared_minutes)

"""Whether the guard of a cluster has let its nodes go, because they were idle."""

from collections.abc import Mapping
from datetime import datetime

from trainshed.aws import Region
from trainshed.guard.outputs import IDLE_OUTPUT, Stopped, idle_alarm, let_go
from trainshed.jobs.why.questions import Questions
from trainshed.orchestrators import ORCHESTRATOR_OUTPUT, Orchestrator, part, traits


def look_at_idle(
    region: Region, cluster: str, outputs: Mapping[str, str], questions: Questions
) -> Stopped | None:
    """Return what to say when the guard has let the nodes go; None when it has not.

    It goes by how many nodes are kept: the function of the alarm leaves none, and the command of
    the remedy brings them back. Somebody who does the same by hand is not told from it.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
        questions: ask them, and note what AWS refuses.
    """
    if IDLE_OUTPUT not in outputs:
        return None
    orchestrator = Orchestrator(outputs[ORCHESTRATOR_OUTPUT])
    kept = questions.ask(
        lambda: part(orchestrator, "node_states").kept_nodes(region, outputs), None
    )
    if kept != 0:
        return None
    alarm = idle_alarm(cluster)
    return let_go(
        outputs,
        alarm,
        questions.ask(lambda: _changed(region, alarm), None),
        launched_for_jobs=not traits(orchestrator).keeps_nodes,
    )


def _changed(region: Region, alarm: str) -> datetime | None:
    """Return when the state of an alarm changed last.

    Once the nodes are gone they send nothing, and it is OK again some minutes later.
    """
    [*found] = region.call("cloudwatch", "describe_alarms", AlarmNames=[alarm])["MetricAlarms"]
    at: datetime | None = found[0]["StateUpdatedTimestamp"] if found else None
    return at

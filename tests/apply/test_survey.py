"""What stops a change, by its risks and by the jobs that are not over."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from deployed_project import project
from deployed_stack import deployed_stack

from trainshed.app.synthesis import SynthesisedStack
from trainshed.apply import ChangeSurvey, survey, survey_change
from trainshed.apply.jobs import Fate
from trainshed.aws import Region
from trainshed.jobs.model import JobState
from trainshed.orchestrators import Orchestrator
from trainshed.plan import load_fleet
from trainshed.review.changes import TemplateComparison
from trainshed.review.model import Effect, Level, ResourceChange, Risk, RiskKind, StackChange
from trainshed.up import Look, Site, StackState, StepState

_ENVIRONMENT = {"Type": "AWS::Batch::ComputeEnvironment", "Properties": {}}


def job(job_id: str, state: JobState, *, nodes: int = 2, minutes: int | None = None) -> Any:
    """A job that has just begun, or waits, and may take some minutes."""
    return SimpleNamespace(
        job_id=job_id,
        name=f"train-{job_id}",
        state=state,
        status=state.value,
        node_count=nodes,
        started_at=datetime.now(UTC) if state is JobState.RUNNING else None,
        timeout_seconds=None if minutes is None else minutes * 60,
    )


def running(job_id: str, *, minutes: int | None, nodes: int = 2) -> Any:
    return job(job_id, JobState.RUNNING, minutes=minutes, nodes=nodes)


def risk(kind: RiskKind, level: Level, spared_minutes: int | None = None) -> Risk:
    return Risk(
        kind=kind,
        level=level,
        stack="TrainCluster",
        resource="Environment",
        message="it is replaced",
        remedy="wait",
        spared_minutes=spared_minutes,
    )


def killed(spared_minutes: int | None, level: Level = Level.HIGH) -> Risk:
    return risk(RiskKind.JOBS_KILLED, level, spared_minutes)


class Change:
    """A change of a deployed cluster, as the engine and the account tell of it.

    Attributes:
        orchestrator: of the cluster.
        risks: of the change.
        jobs: that are listed.
        resources: that change, by their type.
        is_made: the cluster is as its file has it.
        status: of its stack.
        sizes: the most nodes of each cluster whose limits were asked for.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.orchestrator = Orchestrator.BATCH
        self.risks: tuple[Risk, ...] = ()
        self.jobs: tuple[Any, ...] = ()
        self.resources: dict[str, Effect] = {}
        self.is_made = False
        self.status = "UPDATE_COMPLETE"
        self.sizes: list[int] = []

    def survey(self, *, blue_green: bool = False) -> ChangeSurvey:
        [plan] = load_fleet([self._file]).clusters
        plan = replace(plan, orchestrator=self.orchestrator)
        site = Site(
            load=lambda: plan,
            words=("train",),
            files=None,
            region=Region("us-west-2", lambda _: SimpleNamespace()),
            nodes=2,
        )
        return survey_change(site, lambda _: None, blue_green=blue_green)

    def stacks(self, site: Site) -> dict[str, StackState]:
        template = {"Resources": {"Environment": _ENVIRONMENT}}
        made = SynthesisedStack(
            path="TrainCluster", region="us-west-2", file=Path("none"), template=template
        )
        found = deployed_stack(status=self.status)
        deployed = template if self.is_made else {**template, "Description": "before"}
        return {site.plan.name: StackState(made=made, found=found, template=deployed)}

    def comparison(self, *_: object) -> TemplateComparison:
        resources = tuple(
            ResourceChange(
                stack="TrainCluster",
                logical_id="It",
                name="It",
                resource_type=resource_type,
                effect=effect,
            )
            for resource_type, effect in self.resources.items()
        )
        stack = StackChange(name="TrainCluster", effect=Effect.CHANGED, resources=resources)
        return TemplateComparison(
            stacks=(stack,), permissions=(), security_rules=(), differences={}
        )

    def scheduler(self, *_: object) -> Any:
        by_id = {each.job_id: each for each in self.jobs}

        def jobs(*, unfinished: bool) -> list[Any]:
            assert unfinished
            return [*self.jobs]

        return SimpleNamespace(jobs=jobs, job=by_id.get)

    def limits(self, site: Site, mended: object) -> Look:
        self.sizes.append(site.plan.nodes.max)
        return Look(state=StepState.DONE, says="nothing")


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Change:
    made = Change(project(tmp_path))
    answers: dict[str, Callable[..., Any]] = {
        "require_engine": lambda _: None,
        "stack_states": made.stacks,
        "compare_templates": made.comparison,
        "risks": lambda *_: made.risks,
        "scheduler_of": made.scheduler,
        "look_at_limits": made.limits,
    }
    for name, answer in answers.items():
        monkeypatch.setattr(survey, name, answer)
    return made


def refused(found: ChangeSurvey) -> list[RiskKind | None]:
    return [each.kind for each in found.refusals]


@pytest.mark.parametrize(
    ("status", "refusals"),
    [
        ("UPDATE_COMPLETE", []),
        ("UPDATE_IN_PROGRESS", []),
        ("DELETE_FAILED", ["TrainCluster is DELETE_FAILED: its events say why"]),
        ("UPDATE_ROLLBACK_FAILED", ["TrainCluster is UPDATE_ROLLBACK_FAILED: its events say why"]),
    ],
)
def test_a_stack_that_no_deployment_goes_on_from_stops_it(
    change: Change, status: str, refusals: list[str]
) -> None:
    change.status = status

    found = change.survey().refusals

    assert [each.text.partition(";")[0] for each in found] == refusals


@pytest.mark.parametrize(
    ("kind", "level", "stops"),
    [
        (RiskKind.DATA_LOSS, Level.MEDIUM, True),
        (RiskKind.DEPLOYMENT_FAILS, Level.MEDIUM, True),
        (RiskKind.BROAD_PERMISSION, Level.HIGH, True),
        (RiskKind.BROAD_PERMISSION, Level.MEDIUM, False),
        # Without jobs there is none to end.
        (RiskKind.JOBS_KILLED, Level.HIGH, False),
    ],
)
def test_which_risks_stop_a_change(
    change: Change, kind: RiskKind, level: Level, stops: bool
) -> None:
    change.risks = (risk(kind, level),)

    found = change.survey()

    assert refused(found) == ([kind] if stops else [])
    if stops:
        assert found.refusals[0].text == "TrainCluster Environment: it is replaced: wait"


@pytest.mark.parametrize(
    ("minutes", "spared", "hours"),
    [
        pytest.param(120, 600, None, id="over before CloudFormation gives up"),
        pytest.param(121, 600, 3, id="takes longer"),
        pytest.param(240, 300, 4, id="whole hours"),
        pytest.param(240, 60, None, id="is not waited for"),
    ],
)
def test_a_deployment_that_waits_too_long_for_jobs_is_refused(
    change: Change, minutes: int, spared: int, hours: int | None
) -> None:
    # A little less than these minutes is left, which counts as all of them.
    change.risks = (killed(spared, Level.MEDIUM),)
    change.jobs = (
        running("short", minutes=5),
        running("long", minutes=minutes),
        job("later", JobState.QUEUED, minutes=900),
    )

    found = change.survey()

    texts = [each.text for each in found.refusals if each.kind is RiskKind.DEPLOYMENT_FAILS]
    assert bool(texts) == bool(hours)
    for text in texts:
        assert f"may take {hours} hours, and may fail after 2 (TS-JOB-028)" in text
        assert text.endswith("wait until they are over, or add --blue-green")


def test_a_job_without_a_limit_is_waited_for_as_long_as_it_is_spared(change: Change) -> None:
    change.risks = (killed(600),)
    change.jobs = (running("endless", minutes=None),)

    ending, waiting = change.survey().refusals

    assert ending.kind is RiskKind.JOBS_KILLED
    assert "jobs that may be ended: train-endless (endless)" in ending.text
    assert "which may take 10 hours" in waiting.text


def test_jobs_have_the_least_time_of_all_that_ends_them(change: Change) -> None:
    change.risks = (killed(None), killed(600), killed(60))
    change.jobs = (running("long", minutes=300), running("short", minutes=30))

    found = change.survey()

    assert [each.fate for each in found.jobs] == [Fate.MAY_END, Fate.GOES_ON]


def test_jobs_that_have_ended_since_they_were_listed_are_not_shown(change: Change) -> None:
    change.jobs = (job("over", JobState.SUCCEEDED), job("later", JobState.QUEUED))

    assert [each.job_id for each in change.survey().jobs] == ["later"]


@pytest.mark.parametrize(
    ("started", "left"),
    [(timedelta(hours=3), 0), (timedelta(minutes=30), 30), (None, 60)],
)
def test_how_long_a_job_of_an_hour_may_still_take(
    change: Change, started: timedelta | None, left: int
) -> None:
    it = running("it", minutes=60)
    it.started_at = None if started is None else datetime.now(UTC) - started
    change.jobs = (it,)

    [found] = change.survey().jobs

    assert found.minutes_left == left


@pytest.mark.parametrize(
    ("resource_type", "effect", "fate"),
    [
        ("AWS::Batch::JobQueue", Effect.REPLACED, Fate.MAY_END),
        ("AWS::Batch::JobQueue", Effect.CHANGED, Fate.WAITS_ON),
        # What launches nodes holds no jobs that wait.
        ("AWS::Batch::ComputeEnvironment", Effect.REPLACED, Fate.WAITS_ON),
    ],
)
def test_jobs_that_wait_go_with_their_queue_alone(
    change: Change, resource_type: str, effect: Effect, fate: Fate
) -> None:
    change.resources = {resource_type: effect}
    change.jobs = (job("later", JobState.QUEUED),)

    [found] = change.survey().jobs

    assert found.fate is fate


def test_jobs_that_wait_go_with_the_queue_of_an_orchestrator_that_the_file_no_longer_has(
    change: Change,
) -> None:
    change.orchestrator = Orchestrator.EC2
    change.resources = {"AWS::Batch::JobQueue": Effect.REMOVED}
    change.jobs = (job("later", JobState.QUEUED),)

    found = change.survey()

    assert [each.fate for each in found.jobs] == [Fate.MAY_END]
    assert refused(found) == [RiskKind.JOBS_KILLED]


def test_limits_count_the_nodes_of_jobs_that_run_beside_the_new_ones(change: Change) -> None:
    change.risks = (killed(0),)
    change.jobs = (running("a", minutes=None, nodes=3), job("later", JobState.QUEUED, nodes=4))

    in_place, beside = change.survey(), change.survey(blue_green=True)

    assert (in_place.switches, beside.switches) == (False, True)
    assert change.sizes == [4, 4 + 3]
    assert refused(in_place) == [RiskKind.JOBS_KILLED]
    assert refused(beside) == []


@pytest.mark.parametrize("is_made", [False, True])
def test_new_nodes_beside_the_old_are_for_aws_batch_whatever_is_left_to_do(
    change: Change, is_made: bool
) -> None:
    change.orchestrator = Orchestrator.EC2
    change.is_made = is_made

    [found] = change.survey(blue_green=True).refusals

    assert found.kind is None
    assert found.text.startswith("--blue-green is for orchestrator batch")


def test_what_is_not_aws_batch_can_only_wait_for_jobs(change: Change) -> None:
    change.orchestrator = Orchestrator.EC2
    change.risks = (killed(0),)
    change.jobs = (running("a", minutes=None),)

    [found] = change.survey().refusals

    assert found.text == "jobs that may be ended: train-a (a); wait until they are over"


def test_what_is_made_asks_for_no_limits(change: Change) -> None:
    change.is_made = True

    found = change.survey(blue_green=True)

    assert found.is_none
    assert (found.refusals, change.sizes) == ((), [])

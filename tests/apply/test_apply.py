"""`trainshed apply`: what a change of a deployed cluster does, and the change made."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import Answer, runner
from deployed_project import changed, deploy, project

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings
from trainshed.apply import survey
from trainshed.apply.jobs import Fate, job_fates
from trainshed.cli import main
from trainshed.jobs.model import Job, JobState
from trainshed.jobs.scheduler import UnseenJobs
from trainshed.review.model import Level, Risk, RiskKind

NOW = datetime(2026, 11, 28, tzinfo=UTC)
Apply = Callable[..., Answer]


@pytest.fixture(scope="module")
def deployed(
    tmp_path_factory: pytest.TempPathFactory, publish_ami: Callable[..., str]
) -> Iterator[EmbeddedAws]:
    """An embedded AWS with the cluster, which tests leave as it is."""
    folder = tmp_path_factory.mktemp("deployed")
    server = start(ServerSettings(), log=folder / "server.log")
    aws = EmbeddedAws(server)
    deploy(aws, project(folder), publish_ami)
    yield aws
    server.stop()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cluster file of a project, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return project(tmp_path)


@pytest.fixture
def call(file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Apply:
    """`trainshed apply` in the project."""
    called = runner("trainshed", main, capsys, monkeypatch)
    return lambda *arguments: called("apply", "train", *arguments)


@pytest.fixture
def apply(call: Apply, deployed: EmbeddedAws, monkeypatch: pytest.MonkeyPatch) -> Apply:
    """`trainshed apply` in the project, of a cluster that is deployed."""
    deployed.lead_here(monkeypatch)
    return call


def running(job_id: str, *, hours: int | None, began: datetime = NOW) -> Job:
    return Job(
        job_id=job_id,
        name=f"train-{job_id}",
        state=JobState.RUNNING,
        status="RUNNING",
        reason=None,
        cause=None,
        created_at=began,
        started_at=began,
        stopped_at=None,
        attempts=(),
        most_attempts=1,
        node_count=2,
        node_vcpus=128,
        image="",
        log_group="",
        depends_on=(),
        timeout_seconds=None if hours is None else hours * 3600,
        nodes=(),
    )


def waiting(job_id: str) -> Job:
    return replace(
        running(job_id, hours=8), state=JobState.QUEUED, status="RUNNABLE", started_at=None
    )


def scheduler(*jobs: Job) -> Any:
    by_id = {each.job_id: each for each in jobs}
    return SimpleNamespace(jobs=lambda *, unfinished: [*jobs], job=by_id.get)


def killed(spared_minutes: int | None) -> Risk:
    return Risk(
        kind=RiskKind.JOBS_KILLED,
        level=Level.HIGH,
        stack="TrainCluster",
        resource="Batch/Environment",
        message="it is replaced",
        remedy="wait",
        spared_minutes=spared_minutes,
    )


def test_what_is_as_its_file_has_it_is_not_touched(apply: Apply) -> None:
    answer = apply("--yes")

    first, *steps = answer.out.splitlines()
    assert answer.code == 0
    assert first == "nothing to do: all 5 stacks of TrainCluster are as its file has them"
    assert not [line for line in steps if "cdk" in line]


def test_a_plan_says_what_differs_in_which_order_and_what_it_costs(
    apply: Apply, file: Path
) -> None:
    changed(file, "max: 4", "max: 3")

    answer = apply("--plan", "--json")

    assert answer.code == 0
    assert {each["name"]: bool(each["left_to_do"]) for each in answer.json["stacks"]} == {
        "TrainContainers": False,
        "TrainNetwork": False,
        "TrainPrerequisites": False,
        "TrainStorage": False,
        "TrainCluster": True,
    }
    [stack] = answer.json["changes"]
    effects = {each["name"]: each["effect"] for each in stack["resources"]}
    assert effects["Batch/Environment"] == "changed"
    before, after = (answer.json["cost"][f"full_{when}"]["usd"] for when in ("before", "after"))
    assert before - after > 20
    assert answer.json["cost"]["idle_before"] == answer.json["cost"]["idle_after"]


def test_data_at_risk_is_refused_until_its_kind_is_allowed(apply: Apply, file: Path) -> None:
    changed(
        file,
        "storage: {lustre: {deployment: scratch-2}}",
        "storage: {lustre: {allow_replacement: true}}",
    )

    refused = apply("--plan")
    allowed = apply("--plan", "--allow", "data-loss", "--allow", "deployment-fails")

    assert refused.code == 1
    assert "data at risk: TrainStorage" in refused.out
    assert "(to go on in spite of it: --allow data-loss)" in refused.err
    assert (allowed.code, "data at risk: TrainStorage" in allowed.out) == (0, True)
    assert "--allow data-loss" not in allowed.err


def test_a_guard_that_begins_to_stop_nodes_is_shown_and_stops_nothing(
    apply: Apply, file: Path
) -> None:
    file.write_text(file.read_text() + "guard: {expires: 2126-12-31T18:00Z}\n")

    answer = apply("--plan", "--json")

    assert answer.code == 0
    [risk] = [each for each in answer.json["risks"] if each["kind"] == "jobs-killed"]
    assert (risk["level"], risk["resource"]) == ("medium", "Guard/Expires")
    assert risk["message"].startswith("guard stops the nodes at 2126-12-31 18:00 UTC, for good")


def test_jobs_that_may_be_ended_stop_the_change(
    apply: Apply, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(file, "root_gib: 300", "root_gib: 400")
    jobs = running("endless", hours=None), waiting("later")
    monkeypatch.setattr(survey, "scheduler_of", lambda *_: scheduler(*jobs))

    answer = apply("--yes")

    assert answer.code == 1
    assert "jobs that may be ended: train-endless (endless)" in answer.err
    assert "TS-JOB-028" in answer.err
    assert answer.err.splitlines()[-1] == "error: TrainCluster is not changed"


def test_jobs_that_nobody_can_see_stop_a_change_that_may_end_them(
    apply: Apply, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise UnseenJobs("not allowed to list jobs")

    monkeypatch.setattr(survey, "scheduler_of", refuse)
    changed(file, "max: 4", "max: 3")
    harmless = apply("--plan")
    changed(file, "root_gib: 300", "root_gib: 400")
    harmful = apply("--plan")

    assert (harmless.code, harmful.code) == (0, 1)
    assert "jobs are not shown: not allowed to list jobs" in harmless.out
    assert "jobs that may be ended are not known: not allowed to list jobs" in harmful.err


def test_what_the_account_would_refuse_stops_the_change(apply: Apply, file: Path) -> None:
    changed(file, "max: 4", "max: 16")

    answer = apply("--plan")

    assert answer.code == 1
    assert "not applied: TS-ACC-020" in answer.err


def test_a_change_is_made_by_the_cdk_and_a_second_run_has_nothing_to_do(
    call: Apply,
    file: Path,
    clean_aws: EmbeddedAws,
    publish_ami: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deploy(clean_aws, file, publish_ami)
    clean_aws.lead_here(monkeypatch)
    changed(file, "max: 4", "max: 3")

    made, again = call("--yes"), call("--yes")

    assert (made.code, again.code) == (0, 0), made.err
    assert "all 5 are as the cluster file has them" in made.out
    batch = clean_aws.client("batch")
    [environment] = batch.describe_compute_environments()["computeEnvironments"]
    assert environment["computeResources"]["maxvCpus"] == 3 * 128
    assert again.out.startswith("nothing to do")
    # Nodes are checked by whoever wants it.
    assert "trainshed job submit train" in made.out
    [queue] = batch.describe_job_queues()["jobQueues"]
    assert not batch.list_jobs(jobQueue=queue["jobQueueName"])["jobSummaryList"]


def test_a_cluster_that_is_not_deployed_is_for_up(
    call: Apply, clean_aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean_aws.lead_here(monkeypatch)

    answer = call("--plan")

    assert answer.code == 1
    assert "TrainCluster is not deployed in us-west-2" in answer.err
    assert "trainshed up train" in answer.err


@pytest.mark.parametrize("arguments", [("--plan",), ("--yes",)])
def test_without_credentials_nothing_is_compared(
    call: Apply,
    clean_aws: EmbeddedAws,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:
    clean_aws.lead_here(monkeypatch)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)

    answer = call(*arguments)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: no AWS credentials: set AWS_PROFILE")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "this is not a terminal, so nothing can be asked: add --yes, or --plan to look only"),
        (("--yes", "--json"), "--json is for --plan"),
    ],
)
def test_bad_options_are_refused(
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    answer = runner("trainshed", main, capsys, monkeypatch)("apply", str(file), *arguments)

    assert answer.code == 2
    assert said in answer.err


@pytest.mark.parametrize(
    ("job", "spared", "fate", "left"),
    [
        pytest.param(running("a", hours=2), 120, Fate.GOES_ON, 90, id="over in time"),
        pytest.param(running("a", hours=3), 120, Fate.MAY_END, 150, id="takes longer"),
        pytest.param(running("a", hours=None), 120, Fate.MAY_END, None, id="without a limit"),
        pytest.param(running("a", hours=1), 0, Fate.MAY_END, 30, id="not spared"),
        pytest.param(running("a", hours=9), None, Fate.GOES_ON, 510, id="none is ended"),
        pytest.param(waiting("a"), 0, Fate.WAITS_ON, None, id="waits"),
    ],
)
def test_what_happens_to_a_job(job: Job, spared: int | None, fate: Fate, left: int | None) -> None:
    now = NOW + timedelta(minutes=30)

    [found] = job_fates(scheduler(job), [killed(spared)], loses_queue=False, now=now)

    assert (found.fate, found.minutes_left) == (fate, left)


def test_a_job_that_waits_is_lost_with_its_queue() -> None:
    [found] = job_fates(scheduler(waiting("a")), [killed(0)], loses_queue=True, now=NOW)

    assert found.fate is Fate.MAY_END

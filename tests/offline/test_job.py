"""`trainshed job`, with jobs that an embedded AWS runs on a deployed cluster."""

import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from command_line import Answer
from deployed_jobs import CLUSTER, outputs
from documented import documented
from job_bench import JobBench
from terminal import on_a_terminal

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from trainshed.aws import Region
from trainshed.jobs.logs import follow
from trainshed.jobs.scheduler import find_job
from trainshed.nodes.exit_codes import PEER_LOST

Run = Callable[..., Answer]

NO_CAPACITY = Fault(
    service="ec2",
    operation="RunInstances",
    code="InsufficientInstanceCapacity",
    message="We currently do not have sufficient trn1.32xlarge capacity in the zone you requested.",
    count=None,
    when={"InstanceType": "trn1.32xlarge"},
)


@pytest.fixture
def aws(job_aws: EmbeddedAws) -> EmbeddedAws:
    return job_aws


def shell(job: Run, script: str, *options: str) -> str:
    """Submit a script to run on each node as it stands; return the job's id."""
    done = job("submit", "TrainCluster", "--plain", *options, "--", "sh", "-c", script)
    assert done.code == 0, done.err
    return done.out.strip()


def finished(job: Run, script: str, *options: str) -> str:
    """Run a script to its end; return the job's id."""
    job_id = shell(job, script, *options)
    job("watch", job_id)
    return job_id


def rules(done: Answer) -> list[str]:
    return [line.split()[0] for line in done.out.splitlines() if line.startswith("TS-")]


def test_a_command_runs_on_every_node_through_the_launcher(aws: EmbeddedAws, job: Run) -> None:
    done = job(
        *("submit", "TrainCluster", "--nodes", "3", "--name", "ranks", "--env", "WORD=a=b"),
        *("--watch", "--", "sh", "-c", "echo rank $NODE_RANK of $NNODES says $WORD"),
    )

    assert done.code == 0, done.err
    job_id, *shown = done.out.splitlines()
    assert "node 0: rank 0 of 3 says a=b" in shown
    assert any("job SUCCEEDED, nodes: " in line for line in shown)
    [described] = aws.client("batch").describe_jobs(jobs=[job_id])["jobs"]
    assert (described["jobName"], described["nodeProperties"]["numNodes"]) == ("ranks", 3)
    assert "rank 2 of 3 says a=b" in job("logs", job_id, "--node", "2").out.splitlines()
    assert job("why", job_id).out.splitlines()[1:] == ["AWS reports nothing wrong with it"]


def test_files_go_with_a_job_to_every_node_and_to_every_attempt(
    aws: EmbeddedAws, job: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clusters: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/words.txt").write_text("sent with the job\n")
    # Its first attempt is as of a lost node.
    lost = f"[ $AWS_BATCH_JOB_ATTEMPT = 2 ] || exit {PEER_LOST}"
    (tmp_path / "run").write_text(f"#!/bin/sh\n{lost}\necho $NODE_RANK: $(cat src/words.txt)\n")
    (tmp_path / "run").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    project = ("--clusters", str(clusters / "clusters/*.yaml"))

    done = job(
        *("submit", "TrainCluster", *project, "--nodes", "2", "--send", "src", "--send", "run"),
        *("--watch", "--", "./run"),
    )

    assert done.code == 0, done.err
    assert "is a file of this machine" not in done.err
    job_id = done.out.splitlines()[0]
    assert "0: sent with the job" in job("logs", job_id).out.splitlines()
    assert "1: sent with the job" in job("logs", job_id, "--node", "1").out.splitlines()
    # What everybody else submits is as before.
    [described] = aws.client("batch").describe_jobs(jobs=[job_id])["jobs"]
    own = outputs(aws)["JobDefinition"]
    assert described["jobDefinition"] != own
    found = aws.client("batch").describe_job_definitions(jobDefinitions=[own])["jobDefinitions"]
    assert "TRAINSHED_FILES" not in str(found)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--send", "none.py", "--", "true"), "--send none.py: there is no such file or folder"),
        (("--send", "clusters", "--plain", "--", "true"), "--plain: the files of --send need"),
        (("--send", "clusters", "--recipe", "health"), "ready job health has its own files"),
    ],
)
def test_files_that_cannot_go_with_a_job_are_reported(
    job: Run, arguments: tuple[str, ...], said: str
) -> None:
    refused = job("submit", "TrainCluster", *arguments)

    assert refused.code == 2
    assert said in refused.err


def test_a_job_has_the_name_and_the_nodes_of_its_cluster_unless_others_are_asked_for(
    job: Run,
) -> None:
    submitted = job("submit", "TrainCluster", "--plain", "--", "true")

    job_id = submitted.out.strip()
    assert submitted.err.splitlines() == [
        f"follow it: trainshed job watch {job_id}",
        f"why it waits or failed: trainshed job why {job_id}",
        f"end it: trainshed job cancel {job_id}",
    ]
    listed = {each["job_id"]: each for each in job("list", "TrainCluster", "--json").json}
    assert (listed[job_id]["name"], listed[job_id]["nodes"]) == ("TrainCluster", 4)
    # By its name.
    assert f"job {job_id} (TrainCluster)" in job("why", "TrainCluster").out


def with_calendar(folder: Path, begins: str, until: str) -> tuple[str, str]:
    """Give the cluster file a window, in another folder; return the option for it."""
    text = Path("clusters/train.yaml").read_text(encoding="utf-8")
    window = f"{{capacity_block: cr-0123456789abcdef0, from: {begins}, until: {until}}}"
    capacity = f"capacity: {{calendar: [{window}]}}"
    file = folder / "train.yaml"
    file.write_text(f"{text}\n{capacity}\n", encoding="utf-8")
    return "--clusters", str(file)


def test_submit_says_when_the_nodes_of_a_calendar_come(job: Run, tmp_path: Path) -> None:
    clusters = with_calendar(tmp_path, "2126-12-01T11:30Z", "2126-12-02T11:30Z")

    submitted = job(
        *("submit", "TrainCluster", *clusters, "--timeout-hours", "24", "--plain", "--", "true")
    )

    comes, goes, *_ = submitted.err.splitlines()
    assert comes.startswith("the next nodes come at 2126-12-01 11:30 UTC, in ")
    assert goes.startswith("warning: the job may run 24 hours, and the nodes of cr-0123456789abcd")


def test_submit_refuses_a_job_that_no_window_is_left_for(job: Run, tmp_path: Path) -> None:
    clusters = with_calendar(tmp_path, "2025-12-01T11:30Z", "2025-12-02T11:30Z")

    refused = job("submit", "TrainCluster", *clusters, "--plain", "--", "true")

    assert (refused.code, refused.out) == (2, "")
    assert "no window of the calendar of TrainCluster is left, so that no node" in refused.err


def test_a_job_is_found_by_the_name_of_its_ready_job(job: Run) -> None:
    # As --recipe bert-1.5b calls it: a name of a job has no dot.
    job_id = finished(job, "true", "--name", "bert-1-5b")

    assert f"job {job_id} (bert-1-5b)" in job("why", "bert-1.5b").out


def test_the_commands_that_submit_names_name_a_region_that_the_environment_does_not(
    job: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")

    submitted = job("submit", "TrainCluster", "--plain", "--", "true")

    job_id = submitted.out.strip()
    assert f"trainshed job watch {job_id} --region us-west-2" in submitted.err
    assert job("watch", job_id, "--region", "us-west-2").code == 0


def test_jobs_are_listed_the_newest_first(job: Run) -> None:
    first = finished(job, "true", "--name", "first", "--nodes", "1")
    second = finished(job, "exit 4", "--name", "second", "--nodes", "2")

    done = job("list", "TrainCluster")

    lines = [line for line in done.out.splitlines() if first in line or second in line]
    assert [("second" in line, "first" in line) for line in lines] == [(True, False), (False, True)]
    assert "FAILED" in lines[0] and "SUCCEEDED" in lines[1]


def test_a_job_that_aws_batch_tries_again_is_not_submitted_again(job: Run) -> None:
    job_id = finished(job, "exit 197", "--nodes", "1")

    done = job("again", job_id)

    assert done.code == 2
    assert f"AWS Batch keeps nothing of job {job_id} to submit again: AWS Batch and" in done.err
    assert "trainshed job again" not in job("why", job_id).out


def test_a_job_that_fails_ends_the_watching_with_the_node_and_its_exit_code(job: Run) -> None:
    job_id = shell(job, "exit 3", "--nodes", "2")

    watched, explained = job("watch", job_id), job("why", job_id)

    assert watched.code == 1
    assert f"error: job {job_id} has failed: node 0: exit code 3" in watched.err
    assert watched.err.endswith(f"see trainshed job why {job_id}\n")
    assert explained.code == 1
    assert rules(explained) == ["TS-JOB-015"]
    assert f"trainshed job logs {job_id} --node 0" in explained.out


def test_a_job_whose_program_is_missing_is_explained_with_its_name_and_the_last_lines(
    job: Run,
) -> None:
    script = "echo reading the data; no-such-program --fast"
    job_id = finished(job, script, "--nodes", "1")

    explained, record = job("why", job_id), job("why", job_id, "--json").json

    assert "exit code 127: the program no-such-program is not in the container image" in (
        explained.out
    )
    lines = explained.out.splitlines()
    shown = lines[lines.index("node 0 printed last:") + 1 :]
    assert "  | reading the data" in shown
    assert "no-such-program" in shown[-1]
    assert (record["printed"]["node"], shown[-1][4:]) == (0, record["printed"]["lines"][-1])


def test_a_file_that_is_here_and_not_on_the_nodes_is_named_before_the_job_runs(
    job: Run, clusters: Path
) -> None:
    (clusters / "train.py").write_text("print('trained')")

    done = job("submit", "TrainCluster", "--nodes", "1", "--", "python", "train.py")

    job_id = done.out.strip()
    job("watch", job_id)
    assert done.err.startswith("warning: train.py is a file of this machine: a job of the cluster")
    assert "the file " in job("why", job_id).out
    assert "train.py is not in the container image" in job("why", job_id).out


def test_watching_shows_each_change_once(
    aws: EmbeddedAws, job: Run, clusters: Path, tmp_path: Path
) -> None:
    # It runs until somebody who watches has seen it run.
    seen = tmp_path / "seen"
    job_id = shell(job, f"until [ -e '{seen}' ]; do sleep 0.05; done", "--nodes", "3")
    shown = []

    with subprocess.Popen(
        [sys.executable, "-m", "trainshed.cli", "job", "watch", job_id],
        cwd=clusters,
        env={**aws.environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as watching:
        assert watching.stdout
        for line in watching.stdout:
            shown.append(line.rstrip().partition(" ")[2])
            if shown[-1].startswith("job RUNNING, nodes: 3 RUNNING"):
                seen.touch()

    states = [line for line in shown if line.startswith("job ")]
    assert len(states) == len(set(states))
    assert states[-1].startswith("job SUCCEEDED, nodes: ")
    assert any(line.startswith("job RUNNING, nodes: 3 RUNNING") for line in states)
    # All nodes at once, or one after the other.
    assert any(line.endswith("SUCCEEDED: exit code 0") for line in shown)
    assert len(shown) == len(set(shown))


def test_ctrl_c_ends_the_watching_and_not_the_job(
    aws: EmbeddedAws, job: Run, clusters: Path, tmp_path: Path
) -> None:
    job_id = shell(job, f"until [ -e {tmp_path}/end ]; do sleep 0.05; done", "--nodes", "1")

    for command in (["watch"], ["logs", "--follow"]):
        watching = subprocess.Popen(
            [sys.executable, "-m", "trainshed.cli", "job", *command, job_id],
            cwd=clusters,
            env={**aws.environment, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Whoever starts the tests in the background may have them ignore it.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        assert watching.stdout
        watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
        _, said = watching.communicate(timeout=60)

        assert watching.returncode == 130
        assert said.startswith(f"the job goes on; watch it again: trainshed job watch {job_id}")
    (tmp_path / "end").touch()
    assert job("watch", job_id).code == 0


def test_a_terminal_shows_every_node_and_the_end_of_the_log(
    aws: EmbeddedAws, job: Run, clusters: Path
) -> None:
    job_id = shell(job, "echo step 1; exit 5", "--nodes", "3")

    code, shown = on_a_terminal(
        120, "job", "watch", job_id, folder=clusters, environment=aws.environment
    )

    assert code == 1
    last = shown.rpartition("┏")[2]
    assert "0 (main)" in last
    assert "FAILED" in last and "│ 5 " in last
    assert "step 1" in last
    assert f"TrainCluster {job_id}: FAILED" in last


def test_what_a_job_prints_commands_neither_terminal_nor_ci(aws: EmbeddedAws, job: Run) -> None:
    # A progress bar returns to the start of its line.
    said = r"::error::forged\n\033[31mred ##[error]forged\n 1 of 2\r 2 of 2\n"

    job_id = finished(job, f"printf '{said}'")

    assert job("logs", job_id).out.splitlines()[1:] == [
        r"\::error::forged",
        r"\x1b[31mred #\#[error]forged",
        " 1 of 2",
        " 2 of 2",
    ]


def test_logs_follow_a_job_from_before_its_start_to_its_end(aws: EmbeddedAws, job: Run) -> None:
    aws.fail(NO_CAPACITY)
    job_id = shell(job, "echo one; echo two; exit 7", "--nodes", "2")
    early = job("logs", job_id)
    aws.fail()

    done = job("logs", job_id, "--follow")

    assert (early.code, early.out) == (1, "")
    assert early.err == "error: node 0 is RUNNABLE and has printed nothing\n"
    assert done.code == 0
    assert done.out.splitlines()[1:] == ["one", "two"]
    assert job("logs", job_id).out.splitlines()[1:] == ["one", "two"]


def test_logs_follow_a_job_into_its_next_attempt(job: Run, tmp_path: Path) -> None:
    # A node was lost, which the job definition tries again.
    followed = tmp_path / "followed"
    script = (
        "echo try $AWS_BATCH_JOB_ATTEMPT; [ $AWS_BATCH_JOB_ATTEMPT = 2 ] && exit; "
        f"until [ -e '{followed}' ]; do sleep 0.05; done; exit {PEER_LOST}"
    )
    job_id = shell(job, script, "--nodes", "1")
    command = [sys.executable, "-m", "trainshed.cli", "job", "logs", job_id, "--follow"]

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
        assert follower.stdout
        first = [follower.stdout.readline(), follower.stdout.readline()]
        followed.touch()
        lines = [*first, *follower.stdout]

    # Each stream begins with a line of the embedded AWS.
    assert lines[1::2] == ["try 1\n", "try 2\n"]


def test_attempts_that_begin_and_end_between_two_looks_are_followed(
    aws: EmbeddedAws, job: Run, tmp_path: Path
) -> None:
    looked = tmp_path / "looked"
    script = (
        f"until [ -e '{looked}' ]; do sleep 0.05; done; "
        f"echo try $AWS_BATCH_JOB_ATTEMPT; exit {PEER_LOST}"
    )
    region, job_id = Region("us-west-2", aws.client), shell(job, script, "--nodes", "1")

    def pause(_: float) -> None:
        looked.touch()
        JobBench(aws).wait(job_id)

    looks = follow(*find_job(region, job_id), None, pause)
    lines = [line for _, printed in looks for line in printed]

    assert [line for line in lines if line.startswith("try")] == ["try 1", "try 2", "try 3"]


def test_a_log_of_many_pages_is_read_to_its_end(job: Run) -> None:
    job_id = finished(job, "seq 12000", "--nodes", "1")

    assert job("logs", job_id).out.splitlines()[1:] == [str(n) for n in range(1, 12001)]


@pytest.mark.parametrize("starts", [False, True])
def test_a_job_is_cancelled_whether_it_waits_or_runs(
    aws: EmbeddedAws, job: Run, starts: bool
) -> None:
    if not starts:
        aws.fail(NO_CAPACITY)
    job_id = shell(job, "trap 'echo saved; exit 0' TERM; echo on; while :; do sleep 0.05; done")
    if starts:
        follow = job_logs_until(aws, job_id, "on")
        assert follow

    done = job("cancel", job_id, "--reason", "wrong data")

    assert done.code == 0
    assert done.out.startswith(f"ending job {job_id} (TrainCluster) of TrainCluster, which was ")
    assert job("watch", job_id).code == 1
    explained = job("why", job_id)
    assert rules(explained) == ["TS-JOB-019"]
    assert "it was ended on request: wrong data; submit it again" in explained.out
    again = job("cancel", job_id)
    assert again.code == 1
    assert again.err == f"error: job {job_id} is over: it has FAILED\n"
    if starts:
        assert "saved" in job("logs", job_id).out


def job_logs_until(aws: EmbeddedAws, job_id: str, line: str) -> bool:
    """Wait until the main node has printed a line."""
    batch, cloudwatch = aws.client("batch"), aws.client("logs")
    pause = threading.Event()
    for _ in range(600):
        [node] = batch.describe_jobs(jobs=[f"{job_id}#0"])["jobs"]
        if stream := node["container"].get("logStreamName"):
            events = cloudwatch.get_log_events(
                logGroupName=outputs(aws)["LogGroup"], logStreamName=stream, startFromHead=True
            )["events"]
            if line in [event["message"] for event in events]:
                return True
        pause.wait(0.05)
    return False


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "no dashes": (
        ("submit", "TrainCluster", "torchrun", "train.py"),
        "put `--` before the command: trainshed job submit CLUSTER [OPTIONS] -- COMMAND...",
    ),
    "no command": (("submit", "TrainCluster", "--"), "missing argument 'COMMAND...'"),
    "no nodes": (
        ("submit", "TrainCluster", "--nodes", "0", "--", "true"),
        "invalid value for '--nodes': '0' is not allowed; the smallest allowed is 1; see",
    ),
    "too many nodes": (
        ("submit", "TrainCluster", "--nodes", "5", "--", "true"),
        "--nodes 5: TrainCluster has at most 4 nodes; ask for fewer, or raise "
        "instance.nodes.max in its file and deploy",
    ),
    "a name that Batch refuses": (
        ("submit", "TrainCluster", "--name", "my job", "--", "true"),
        "a job cannot be called 'my job'",
    ),
    "an empty name": (
        ("submit", "TrainCluster", "--name", "", "--", "true"),
        "a job cannot be called ''",
    ),
    "a variable without a value": (
        ("submit", "TrainCluster", "--env", "WORD", "--", "true"),
        "--env WORD: write NAME=VALUE",
    ),
    "a variable that sent files go by": (
        ("submit", "TrainCluster", "--env", "TRAINSHED_FILES=", "--", "true"),
        "variable TRAINSHED_FILES: it is for the files of --send PATH",
    ),
    "a variable of the launcher": (
        ("submit", "TrainCluster", "--env", "NODE_RANK=1", "--", "true"),
        "variable NODE_RANK: trainshed-launch sets it for every command",
    ),
    "a variable of Batch": (
        ("submit", "TrainCluster", "--env", "AWS_BATCH_X=1", "--", "true"),
        "variable AWS_BATCH_X: names that begin with AWS_BATCH are AWS Batch's own",
    ),
    "a short time-out": (
        ("submit", "TrainCluster", "--timeout-hours", "0.01", "--", "true"),
        "a time-out of 36 seconds is too short; AWS Batch takes 60 or more",
    ),
    "a time-out without an end": (
        ("submit", "TrainCluster", "--timeout-hours", "inf", "--", "true"),
        "--timeout-hours inf: write a number of hours",
    ),
    "a time-out that is no number": (
        ("submit", "TrainCluster", "--timeout-hours", "nan", "--", "true"),
        "--timeout-hours nan: write a number of hours",
    ),
    "a time-out of ages": (
        ("submit", "TrainCluster", "--timeout-hours", "1e308", "--", "true"),
        "--timeout-hours 1e+308: write a number of hours above 0, at most 8760",
    ),
    "a negative time-out": (
        ("submit", "TrainCluster", "--timeout-hours", "-1", "--", "true"),
        "--timeout-hours -1: write a number of hours above 0, at most 8760",
    ),
    "an empty program": (
        ("submit", "TrainCluster", "--", ""),
        "the first word of the command is empty; name a program",
    ),
    "another cluster": (("submit", "Train", "--", "true"), "did you mean"),
    "another job": (("why", "no-such-job"), "no job has the id or the name 'no-such-job'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_input_is_an_error_that_says_what_to_do(job: Run, wrong: str) -> None:
    arguments, message = WRONG[wrong]

    done = job(*arguments)

    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_node_that_the_job_does_not_have(job: Run) -> None:
    job_id = shell(job, "true", "--nodes", "2")

    for options in ((), ("--follow",)):
        done = job("logs", job_id, "--node", "2", *options)

        assert done.code == 2
        assert done.err == f"error: job {job_id} has the nodes 0 to 1, not 2\n"


def test_a_cluster_that_is_not_deployed(job: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(CLUSTER.replace("TrainCluster", "OtherCluster"))

    done = job("submit", str(other), "--", "true")

    assert done.code == 1
    assert done.err == (
        "error: OtherCluster is not deployed in us-west-2; deploy it: npx cdk deploy OtherCluster\n"
    )


def test_a_stack_without_a_queue(aws: EmbeddedAws, job: Run, tmp_path: Path) -> None:
    name = f"Other{uuid4().hex[:6]}"
    aws.deploy({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}, stack_name=name)
    other = tmp_path / "other.yaml"
    other.write_text(CLUSTER.replace("TrainCluster", name))

    done = job("list", str(other))

    assert done.code == 1
    assert "is CREATE_COMPLETE and has no outputs for jobs" in done.err


def test_why_names_missing_capacity_quota_and_the_job_before(
    aws: EmbeddedAws, job: Run, trainshed: Run
) -> None:
    aws.fail(NO_CAPACITY)
    first = shell(job, "true", "--name", "large")
    second = shell(job, "true", "--name", "second")
    stuck(aws, first)

    done = trainshed(*documented("trainshed job why large"))
    behind = job("why", second)

    assert rules(done) == ["TS-JOB-007", "TS-JOB-009", "TS-JOB-010"]
    assert "AWS Batch says: CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY" in done.out
    assert (
        "UTC: We currently do not have sufficient trn1.32xlarge capacity in the zone you "
        "requested. Launching EC2 instance failed; wait, ask for fewer nodes" in done.out
    )
    # Nothing has raised it yet.
    assert "the job needs 512 vCPUs" in done.out and "(L-2C3B7624) is 0;" in done.out
    # The launch may have failed again since it was submitted.
    assert [each for each in rules(behind) if each != "TS-JOB-009"] == ["TS-JOB-010", "TS-JOB-008"]
    assert f"large {first} RUNNABLE" in behind.out
    assert job("why", first, "--json").json["findings"][0]["rule"] == "TS-JOB-007"


def test_why_counts_and_prices_the_nodes_that_wait_for_others(aws: EmbeddedAws, job: Run) -> None:
    aws.fail(replace(NO_CAPACITY, after=3))
    job_id = shell(job, "true")
    stuck(aws, job_id)

    waiting = job("why", job_id)
    aws.fail()
    watched = job("watch", job_id)

    assert "TS-JOB-033" in rules(waiting)
    # At 21.50 USD an hour each.
    assert "of the job's 4 nodes, 3 run and wait for the others, for 64.50 USD an hour" in (
        waiting.out
    )
    assert "lets it wait for 2 hours (job.capacity_wait_hours): end it, ask for 3" in waiting.out
    assert watched.code == 0
    assert "TS-JOB-033" not in rules(job("why", job_id))


def stuck(aws: EmbeddedAws, job_id: str) -> None:
    """Wait until AWS Batch says why a job waits."""
    pause = threading.Event()
    for _ in range(600):
        [found] = aws.client("batch").describe_jobs(jobs=[job_id])["jobs"]
        if "statusReason" in found:
            return
        pause.wait(0.05)
    raise AssertionError("no reason")


def test_why_says_that_the_queue_and_the_environment_are_disabled(
    aws: EmbeddedAws, job: Run
) -> None:
    batch, made = aws.client("batch"), outputs(aws)
    aws.fail(NO_CAPACITY)
    job_id = shell(job, "true")
    batch.update_job_queue(jobQueue=made["JobQueue"], state="DISABLED")
    batch.update_compute_environment(
        computeEnvironment=made["ComputeEnvironment"], state="DISABLED"
    )

    done, refused = job("why", job_id), job("submit", "TrainCluster", "--", "true")

    batch.update_compute_environment(computeEnvironment=made["ComputeEnvironment"], state="ENABLED")
    batch.update_job_queue(jobQueue=made["JobQueue"], state="ENABLED")
    assert {"TS-JOB-003", "TS-JOB-004"} <= set(rules(done))
    assert "--state ENABLED" in done.out
    assert refused.code == 1
    assert "is disabled and takes no jobs" in refused.err


def test_why_names_a_host_that_ended(aws: EmbeddedAws, job: Run, tmp_path: Path) -> None:
    job_id = shell(job, "echo on; exec sleep 90", "--nodes", "1")
    assert job_logs_until(aws, job_id, "on")
    ec2 = aws.client("ec2")
    nodes = [{"Name": "tag:trainshed:cluster", "Values": ["TrainCluster"]}]
    running = [{"Name": "instance-state-name", "Values": ["running"]}]
    [group] = ec2.describe_instances(Filters=nodes + running)["Reservations"]
    instance = group["Instances"][0]["InstanceId"]
    ec2.terminate_instances(InstanceIds=[instance])
    wait_for_attempt(aws, job_id)

    done = job("why", job_id)

    assert "TS-JOB-016" in rules(done)
    assert f"Host EC2 (instance {instance}) terminated, while it ran a node of the job" in done.out
    assert ", attempt " in done.out.splitlines()[0]


def wait_for_attempt(aws: EmbeddedAws, job_id: str) -> None:
    """Wait until an attempt of a job is over."""
    pause = threading.Event()
    for _ in range(600):
        [found] = aws.client("batch").describe_jobs(jobs=[job_id])["jobs"]
        if found["attempts"]:
            return
        pause.wait(0.05)
    raise AssertionError("no attempt has ended")


def test_why_says_how_long_a_job_may_take(job: Run) -> None:
    job_id = finished(job, "exec sleep 90", "--nodes", "1", "--timeout-hours", "0.0167")

    done = job("why", job_id)

    assert rules(done) == ["TS-JOB-017"]
    assert "it took longer than its time-out of 60 seconds" in done.out


def test_why_names_the_command_that_is_not_there(job: Run) -> None:
    done = job("submit", "TrainCluster", "--plain", "--nodes", "1", "--", "no-such-program")
    job("watch", done.out.strip())

    explained = job("why", done.out.strip())

    assert set(rules(explained)) == {"TS-JOB-014"}
    assert "the command is not in the container image registry.example/train:1" in explained.out


def test_why_names_a_boot_that_failed(aws: EmbeddedAws, job: Run) -> None:
    aws.fail(NO_CAPACITY)
    job_id = shell(job, "true")
    batch, ec2 = aws.client("batch"), aws.client("ec2")
    environment = outputs(aws)["ComputeEnvironment"]
    [found] = batch.describe_compute_environments(computeEnvironments=[environment])[
        "computeEnvironments"
    ]
    tags = {"trainshed:cluster": "TrainCluster", "trainshed:boot": "failed: 7 of 8 EFA devices"}
    [node] = ec2.run_instances(
        ImageId="ami-0ec5000000000ba7c",
        InstanceType="m5.large",
        SubnetId=found["computeResources"]["subnets"][0],
        MinCount=1,
        MaxCount=1,
        TagSpecifications=[
            {
                "ResourceType": "instance",
                "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
            }
        ],
    )["Instances"]

    done = job("why", job_id)

    ec2.terminate_instances(InstanceIds=[node["InstanceId"]])
    # A job of the next test may be submitted within the second of this launch.
    ec2.delete_tags(Resources=[node["InstanceId"]], Tags=[{"Key": "trainshed:boot"}])
    assert "TS-JOB-012" in rules(done)
    assert f"the boot of {node['InstanceId']} failed: 7 of 8 EFA devices;" in done.out


def test_a_question_that_may_not_be_asked_does_not_stop_the_others(
    aws: EmbeddedAws, job: Run
) -> None:
    aws.fail(NO_CAPACITY)
    job_id = shell(job, "true")
    stuck(aws, job_id)
    aws.fail(
        NO_CAPACITY,
        Fault(
            service="autoscaling",
            operation="DescribeAutoScalingGroups",
            code="AccessDenied",
            count=None,
        ),
        Fault(
            service="servicequotas",
            operation="GetServiceQuota",
            code="AccessDeniedException",
            count=None,
        ),
    )

    done = job("why", job_id)

    assert rules(done) == ["TS-JOB-007", "TS-JOB-020", "TS-JOB-020"]
    assert "may not call autoscaling:DescribeAutoScalingGroups in us-west-2" in done.out
    assert "may not call servicequotas:GetServiceQuota in us-west-2" in done.out


def test_why_asks_for_what_is_missing_of_the_image_and_the_log(aws: EmbeddedAws, job: Run) -> None:
    group = outputs(aws)["LogGroup"]
    cloudwatch = aws.client("logs")
    cloudwatch.delete_log_group(logGroupName=group)

    job_id = finished(job, "true", "--nodes", "1")
    done = job("why", job_id)

    cloudwatch.create_log_group(logGroupName=group)
    assert set(rules(done)) == {"TS-JOB-014"}
    assert f"aws logs create-log-group --log-group-name {group}" in done.out
    assert job("logs", job_id).code == 1


def test_the_documented_commands_submit_and_watch_jobs(
    job: Run, trainshed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clusters: Path
) -> None:
    shutil.copytree(clusters / "clusters", tmp_path / "clusters")
    (tmp_path / "train.py").write_text("print('step 1 of 1', flush=True)\n")
    monkeypatch.chdir(tmp_path)

    greeted = trainshed(
        *documented("trainshed job submit TrainCluster --nodes 2 --watch -- echo hello")
    )
    submitted = trainshed(
        *documented(
            "trainshed job submit TrainCluster --nodes 4 --name pretrain --send train.py "
            "-- python train.py"
        )
    )
    watched = trainshed(*documented("trainshed job watch pretrain"))

    assert (greeted.code, submitted.code, watched.code) == (0, 0, 0)
    assert "node 0: hello" in greeted.out.splitlines()
    assert "node 0: step 1 of 1" in watched.out.splitlines()

"""`trainshed job` with ready jobs, on a deployed cluster with a stand-in of nccom-test."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Answer
from documented import documented

from embedded_aws.embedded import EmbeddedAws

Run = Callable[..., Answer]


def judged(job: Run, trainshed: Run, folder: Path, job_id: str, *nodes: int) -> Any:
    """Have `bench judge` judge what nodes of a job printed."""
    for node in nodes:
        log = job("logs", job_id, "--node", str(node))
        (folder / f"{node}.log").write_text(log.out)
    files = [str(folder / f"{node}.log") for node in nodes]
    count = "4" if len(nodes) == 1 else "1"
    return trainshed(
        *("bench", "judge", *files, "--type", "trn1.32xlarge", "--nodes", count, "--json")
    )


def test_a_ready_job_runs_on_every_node_and_its_log_is_judged(
    job_aws: EmbeddedAws, job: Run, trainshed: Run, tmp_path: Path
) -> None:
    done = job("submit", "TrainCluster", "--recipe", "collectives", "--set", "min_bytes=1M")
    job_id = done.out.strip()

    watched = job("watch", job_id)

    assert watched.code == 0, watched.out
    command = next(line for line in done.err.splitlines() if line.startswith("command: "))
    assert command.startswith("command: trainshed-launch sh -exc '[ $NODE_RANK = 0 ] || exit 0; ")
    assert "nccom-test -r 128 -N 4 -b 1048576 -e 1073741824 " in command
    [described] = job_aws.client("batch").describe_jobs(jobs=[job_id])["jobs"]
    assert (described["jobName"], described["nodeProperties"]["numNodes"]) == ("collectives", 4)
    answer = judged(job, trainshed, tmp_path, job_id, 0)
    [figures] = answer.json["figures"]
    assert (figures["tool"], figures["operation"]) == ("nccom-test", "all_reduce")
    assert figures["size_bytes"] == 1024**3
    assert figures["network_gbps_at_least"] > 1


def test_the_documented_commands_of_ready_jobs(job: Run, trainshed: Run) -> None:
    gathered = trainshed(
        *documented(
            "trainshed job submit TrainCluster --nodes 2 --recipe collectives "
            "--set operation=all_gather"
        )
    )
    healthy = trainshed(*documented("trainshed job submit TrainCluster --recipe health"))
    watched = trainshed(*documented("trainshed job watch health"))

    assert (gathered.code, healthy.code, watched.code) == (0, 0, 0)
    assert "nccom-test" in gathered.err
    assert job("watch", gathered.out.strip()).code == 0


def test_health_names_the_broken_and_the_slow_node(
    job_aws: EmbeddedAws, job: Run, trainshed: Run, tmp_path: Path
) -> None:
    options = ("--env", "BROKEN_NODES=2", "--env", "SLOW_NODES=3", "--name", "check")
    done = job("submit", "TrainCluster", "--recipe", "health", *options)
    job_id = done.out.strip()

    watched = job("watch", job_id)

    assert watched.code == 1
    # The main node ends with the code of the job, also when it is well itself.
    nodes = [f"{job_id}#{index}" for index in range(4)]
    described = job_aws.client("batch").describe_jobs(jobs=nodes)["jobs"]
    codes = {each["jobId"][-1]: each["container"]["exitCode"] for each in described}
    assert codes == {"0": 1, "1": 0, "2": 1, "3": 0}
    main = job("logs", job_id).out
    assert "the command ended with exit code 1 on node 2 (127." in main
    assert "| 1 errors found - test failed" in main
    assert "1 errors found - test failed" in job("logs", job_id, "--node", "2").out
    answer = judged(job, trainshed, tmp_path, job_id, 0, 1, 3)
    slow = [each for each in answer.json["findings"] if each["rule"] == "TS-COL-012"]
    assert ["3.log" in each["message"] for each in slow] == [True]


def test_the_ready_jobs_of_a_cluster_are_those_of_its_accelerators(job: Run) -> None:
    everything, own = job("recipes", "--json").json, job("recipes", "TrainCluster", "--json").json

    assert {each["accelerator"] for each in everything} == {"habana", "neuron", "nvidia"}
    assert {each["accelerator"] for each in own} == {"neuron"}
    assert [each["recipe"] for each in own] == ["collectives", "health", "bert-340m"]
    [steps] = [each for each in own[2]["parameters"] if each["name"] == "steps"]
    assert (steps["default"], steps["source"][:18]) == ("28125", "aws-neuron-samples")
    table = job("recipes", "TrainCluster").out
    assert "operation=all_reduce, min_bytes=8, max_bytes=1G, iterations=50" in table


def test_variables_of_the_user_win_and_those_of_the_ready_job_are_shown(
    job_aws: EmbeddedAws, job: Run
) -> None:
    done = job(
        *("submit", "TrainCluster", "--recipe", "bert-340m", "--set", "checkpoint=/tmp/none"),
        *("--env", "NEURON_RT_EXEC_TIMEOUT=900", "--nodes", "1"),
    )
    job_id = done.out.strip()
    job("cancel", job_id)

    assert "variable: NEURON_RT_STOCHASTIC_ROUNDING_SEED=0" in done.err.splitlines()
    [described] = job_aws.client("batch").describe_jobs(jobs=[f"{job_id}#0"])["jobs"]
    found = {each["name"]: each["value"] for each in described["container"]["environment"]}
    assert found["NEURON_RT_EXEC_TIMEOUT"] == "900"
    assert found["NEURON_RT_STOCHASTIC_ROUNDING_SEED"] == "0"


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "a command, too": (
        ("--recipe", "health", "--", "true", "x y"),
        "--recipe health and the command true 'x y' exclude each other; leave one of them out",
    ),
    "a command without dashes": (
        ("--recipe", "health", "true"),
        "--recipe health and the command true exclude each other",
    ),
    "an unknown ready job": (
        ("--recipe", "helth"),
        "ready job 'helth' is not known; did you mean health?",
    ),
    "a ready job of others": (
        ("--recipe=bert-1.5b",),
        "ready job bert-1.5b does not run on trn1.32xlarge: it is for habana, and the type has "
        "Trainium (those that do: collectives, health, bert-340m)",
    ),
    "an unknown parameter": (
        ("--recipe", "health", "--set", "minute=3"),
        "parameter of ready job health 'minute' is not known; did you mean minutes?",
    ),
    "a parameter without a value": (
        ("--recipe", "health", "--set", "minutes"),
        "--set minutes: write NAME=VALUE",
    ),
    "a parameter without a ready job": (
        ("--set", "minutes=3", "--", "true"),
        "--set sets a parameter of a ready job; name one with --recipe",
    ),
    "without the launcher": (
        ("--recipe", "health", "--plain"),
        "--plain: ready job health needs trainshed-launch; leave --plain out",
    ),
    "no file system": (
        ("--recipe", "bert-340m"),
        "checkpoint=SHARED/checkpoints/bert-340m: the cluster has no file system",
    ),
    "too many nodes": (
        ("--recipe", "health", "--nodes", "5"),
        "--nodes 5: TrainCluster has at most 4 nodes",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_input_is_an_error_that_says_what_to_do(job: Run, wrong: str) -> None:
    arguments, message = WRONG[wrong]

    done = job("submit", "TrainCluster", *arguments)

    assert (done.code, done.out) == (2, "")
    assert message in done.err

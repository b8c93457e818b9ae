"""`trainshed status` and `top` of a cluster of AWS Batch, which has nodes while a job runs."""

from collections.abc import Callable

from command_bench import until
from command_line import Answer
from documented import documented

from embedded_aws.embedded import EmbeddedAws

Run = Callable[..., Answer]


def lines(done: Answer, label: str) -> list[str]:
    """Return what is shown under a label."""
    return [
        line.removeprefix(label).strip() for line in done.out.splitlines() if line.startswith(label)
    ]


def test_a_cluster_without_a_job_has_no_nodes_and_is_well(job: Run, trainshed: Run) -> None:
    done = trainshed(*documented("trainshed status TrainCluster"))

    assert done.code == 0, done.out
    assert lines(done, "stacks") == ["CREATE_COMPLETE: TrainNetwork, TrainCluster"]
    assert lines(done, "nodes") == ["0 wanted, none there, at most 4"]


def test_a_job_that_runs_has_nodes_which_are_wanted_and_paid_for(job: Run, trainshed: Run) -> None:
    idle = trainshed(*documented("trainshed status TrainCluster"), "--json").json
    job_id = job(
        *("submit", "TrainCluster", "--nodes", "2", "--plain", "--", "sleep", "600")
    ).out.strip()
    until(lambda: "RUNNING" in job("list", "TrainCluster").out, "the job")

    done = trainshed(*documented("trainshed status TrainCluster"), "--json")
    top = trainshed(*documented("trainshed top TrainCluster"), "--json")

    job("cancel", job_id)
    found = done.json
    assert (found["nodes"]["wanted"], found["nodes"]["counts"]) == (2, {"running": 2})
    assert found["jobs"]["RUNNING"] == 1
    # Their stand-in has no tool of Neuron.
    assert [each["problem"].split(";")[0] for each in top.json] == [
        "accelerators: none of nvidia-smi, hl-smi, neuron-monitor is there"
    ] * 2
    assert all(each["cpus"] for each in top.json)
    # Two trn1.32xlarge with their volumes.
    more = found["cost_per_hour"]["usd"] - idle["cost_per_hour"]["usd"]
    assert 43 < more < 44


def test_a_disabled_compute_environment_is_wrong(
    job_aws: EmbeddedAws, job: Run, trainshed: Run
) -> None:
    batch = job_aws.client("batch")
    [environment] = batch.describe_compute_environments()["computeEnvironments"]
    name = environment["computeEnvironmentName"]
    batch.update_compute_environment(computeEnvironment=name, state="DISABLED")

    done = trainshed(*documented("trainshed status TrainCluster"))

    batch.update_compute_environment(computeEnvironment=name, state="ENABLED")
    assert done.code == 1
    assert lines(done, "wrong") == [
        f"compute environment {name} is DISABLED, so that no node is launched"
    ]


def test_top_says_that_no_node_runs(job: Run, trainshed: Run) -> None:
    done = trainshed("top", "TrainCluster", "--once")

    assert done.code == 1
    assert (
        "no node of TrainCluster runs in us-west-2; nodes of AWS Batch come with a job" in done.err
    )

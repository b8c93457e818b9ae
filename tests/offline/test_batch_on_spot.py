"""`trainshed job` on a cluster of AWS Batch with one node on Spot, whose jobs really run."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import deployed_jobs
import job_bench
import pytest
from command_line import Answer
from deployed_jobs import deploy_stacks

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.job_settings import JobSettings
from trainshed.aws import Region
from trainshed.jobs.model import Job
from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.plan import load_fleet
from trainshed.ready_jobs import Work
from trainshed.rehearse.faults import FaultKind
from trainshed.rehearse.rehearsal import Rehearsal, run_job

CLUSTER = """name: SpotCluster
region: us-west-2
instance: {type: trn1.32xlarge}
capacity: {spot: {}}
image: {uri: "registry.example/train:1"}
job: {environment: {GREETING: "good morning"}}
"""
Run = Callable[..., Answer]
outputs = partial(deployed_jobs.outputs, cluster="SpotCluster")


@pytest.fixture(scope="module")
def clusters(write_project: Callable[[str], Path]) -> Path:
    return write_project(CLUSTER)


@pytest.fixture(scope="module")
def aws(
    clusters: Path, deploy_project: Callable[..., AbstractContextManager[EmbeddedAws]]
) -> Iterator[EmbeddedAws]:
    """An embedded AWS with the cluster deployed."""
    with deploy_project(clusters, "SpotNetwork", "SpotCluster", speed=1) as found:
        yield found


@pytest.fixture
def job(
    aws: EmbeddedAws,
    look_often: None,
    clusters: Path,
    trainshed: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """`trainshed job` in the project."""
    aws.lead_here(monkeypatch)
    monkeypatch.chdir(clusters)
    return lambda *arguments: trainshed("job", *arguments)


def test_a_job_of_one_container_is_submitted_followed_and_listed(
    aws: EmbeddedAws, job: Run
) -> None:
    script = "echo $GREETING $WORD, $NODE_RANK of $NNODES at $MASTER_ADDR"
    done = job(
        *("submit", "SpotCluster", "--name", "ranks", "--env", "WORD=a=b", "--timeout-hours", "1"),
        *("--watch", "--", "sh", "-c", script),
    )

    assert done.code == 0, done.err
    job_id, *shown = done.out.splitlines()
    assert "node 0: good morning a=b, 0 of 1 at 127.0.0.1" in shown
    [described] = aws.client("batch").describe_jobs(jobs=[job_id])["jobs"]
    assert "nodeProperties" not in described
    assert described["timeout"] == {"attemptDurationSeconds": 3600}
    assert "good morning a=b, 0 of 1 at 127.0.0.1" in job("logs", "ranks").out.splitlines()
    listed = {each["name"]: each for each in job("list", "SpotCluster", "--json").json}["ranks"]
    assert (listed["status"], listed["nodes"]) == ("SUCCEEDED", 1)
    assert job("why", job_id).out.splitlines()[1:] == ["AWS reports nothing wrong with it"]


def test_more_nodes_than_one_are_refused(job: Run) -> None:
    done = job("submit", "SpotCluster", "--nodes", "2", "--", "true")

    assert done.code == 2
    assert "SpotCluster has at most 1 node" in done.err


def test_files_go_with_a_job_of_one_container(
    aws: EmbeddedAws, job: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clusters: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("sent with the job\n")
    project = ("--clusters", str(clusters / "clusters/*.yaml"))

    done = job(
        *("submit", "SpotCluster", *project, "--send", "words.txt", "--watch"),
        *("--", "cat", "words.txt"),
    )

    assert done.code == 0, done.err
    assert "node 0: sent with the job" in done.out.splitlines()
    own = outputs(aws)["JobDefinition"]
    found = aws.client("batch").describe_job_definitions(jobDefinitions=[own])["jobDefinitions"]
    assert "TRAINSHED_FILES" not in str(found)


def test_a_job_that_fails_is_explained(job: Run) -> None:
    done = job("submit", "SpotCluster", "--watch", "--", "sh", "-c", "exit 3")

    job_id = done.out.splitlines()[0]
    assert done.code == 1
    assert "node 0 ended with exit code 3" in job("why", job_id).out


def test_a_job_whose_node_ec2_takes_back_goes_on_from_its_checkpoint_on_another(
    aws: EmbeddedAws, tmp_path: Path
) -> None:
    kept, printed = tmp_path / "checkpoint", list[str]()
    training = (
        f"[ $AWS_BATCH_JOB_ATTEMPT = 1 ] || {{ echo found $(cat {kept}); exit 0; }}; "
        f"trap 'echo step 7 before $(cat $TRAINSHED_DEADLINE) | tee {kept}; exit 5' TERM; "
        "echo step; sleep 600 & wait"
    )
    rehearsal = Rehearsal(
        cluster="SpotCluster",
        work=Work(command=("trainshed-launch", "sh", "-c", training)),
        fault=FaultKind.SPOT_INTERRUPTION,
    )

    ended = run_job(
        rehearsal,
        aws,
        Region("us-west-2", aws.client),
        outputs(aws),
        lambda _, lines: printed.extend(lines),
    )

    assert ended.status == "SUCCEEDED"
    assert [each.exit_code for each in ended.attempts] == [PEER_LOST, 0]
    [notice] = [line for line in printed if "back (interruption)" in line]
    [found] = [line for line in printed if line.startswith("found step 7 before ")]
    assert found.removeprefix("found step 7 before ") in notice
    [described] = aws.client("batch").describe_jobs(jobs=[ended.job_id])["jobs"]
    first, second = (each["container"]["containerInstanceArn"] for each in described["attempts"])
    assert first != second


def test_a_recommendation_ends_no_job(aws: EmbeddedAws, tmp_path: Path) -> None:
    told = tmp_path / "told"
    # It goes on until the launcher has told of it.
    waits = f"echo step; for i in $(seq 600); do [ -e {told} ] && exit; sleep 0.1; done; exit 7"
    rehearsal = Rehearsal(
        cluster="SpotCluster",
        work=Work(command=("trainshed-launch", "sh", "-c", waits)),
        fault=FaultKind.REBALANCE,
    )

    def seen(_: Job, lines: Sequence[str]) -> None:
        if any("EC2 may take this node back" in line for line in lines):
            told.touch()

    ended = run_job(rehearsal, aws, Region("us-west-2", aws.client), outputs(aws), seen)

    assert ended.status == "SUCCEEDED"
    assert [each.exit_code for each in ended.attempts] == [0]


def test_a_job_gets_a_node_of_the_next_type_where_spot_lacks_the_first(
    synthesise: Callable[..., Path], publish_ami: Callable[..., str], tmp_path: Path
) -> None:
    types = ["g6e.8xlarge", "g6.8xlarge"]
    (tmp_path / "spot.yaml").write_text(
        CLUSTER.replace("trn1.32xlarge", types[0]).replace(
            "{spot: {}}", f"{{spot: {{}}, instance_types: [{', '.join(types)}]}}"
        )
    )
    assembly = synthesise(load_fleet([tmp_path / "spot.yaml"]))
    with job_bench.job_aws(tmp_path, JobSettings(loopback=True)) as aws:
        publish_ami(aws, "nvidia/ecs")
        deploy_stacks(aws, assembly, "SpotNetwork", "SpotCluster")
        lacking = Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            when={"InstanceType": types[0]},
        )
        aws.fail(lacking)

        rehearsal = Rehearsal(cluster="SpotCluster", work=Work(command=("true",)))
        region = Region("us-west-2", aws.client)
        ended = run_job(rehearsal, aws, region, outputs(aws), lambda _, lines: None)

        found = aws.client("ec2").describe_instances()["Reservations"]
        launched = [each["InstanceType"] for entry in found for each in entry["Instances"]]
        assert (ended.status, launched) == ("SUCCEEDED", [types[1]])


def test_a_cluster_moves_to_spot_and_back_by_another_environment(
    deploy_cluster: Callable[..., None], clean_aws: EmbeddedAws, publish_ami: Callable[..., str]
) -> None:
    publish_ami(clean_aws)
    on_spot = CLUSTER.replace("SpotCluster", "TrainCluster")
    batch = clean_aws.client("batch")

    def found() -> tuple[str, str, str]:
        [nodes] = batch.describe_compute_environments()["computeEnvironments"]
        [jobs] = batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"]
        logical_id = nodes["computeEnvironmentName"].partition("-")[0]
        return logical_id, nodes["computeResources"]["type"], jobs["type"]

    deploy_cluster(on_spot.replace("capacity: {spot: {}}\n", ""), "TrainNetwork", "TrainCluster")
    before = found()
    deploy_cluster(on_spot, "TrainNetwork", "TrainCluster")
    after = found()
    deploy_cluster(on_spot.replace("capacity: {spot: {}}\n", ""), "TrainNetwork", "TrainCluster")

    assert (before[1:], after[1:]) == (("EC2", "multinode"), ("SPOT", "container"))
    assert before == found()
    # By its id, so that nothing of it is changed in place.
    assert before[0] != after[0]

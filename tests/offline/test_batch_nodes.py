"""`trainshed node` on a deployed cluster of AWS Batch, whose nodes run a job."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_bench import until
from command_line import Answer

from embedded_aws.embedded import EmbeddedAws

Run = Callable[..., Answer]
# The first attempt ends as of a lost node when it is told to, the second by itself.
HELD = """
[ $AWS_BATCH_JOB_ATTEMPT = 2 ] && exit 0
touch {folder}/began-$AWS_BATCH_JOB_NODE_INDEX
while [ ! -e {folder}/end ]; do sleep 0.1; done
exit 197
"""


@pytest.fixture
def held(job: Run, tmp_path: Path) -> str:
    """The id of a job of two nodes that waits for the file `end`, and then is tried again."""
    script = HELD.format(folder=tmp_path)
    done = job(
        *("submit", "TrainCluster", "--plain", "--nodes", "2", "--name", "held"),
        *("--", "sh", "-c", script),
    )
    assert done.code == 0, done.err
    until(lambda: len([*tmp_path.glob("began-*")]) == 2, "both nodes")
    return done.out.strip()


def hosts(aws: EmbeddedAws, job_id: str) -> list[str]:
    """Return the instances of a job's nodes."""
    found = aws.client("batch").describe_jobs(jobs=[f"{job_id}#0", f"{job_id}#1"])["jobs"]
    nodes = sorted(found, key=lambda each: int(each["nodeDetails"]["nodeIndex"]))
    return [each["container"]["containerInstanceArn"].rpartition("/")[2] for each in nodes]


def states(aws: EmbeddedAws) -> dict[str, str]:
    """Return the status of each container instance, by its instance."""
    ecs = aws.client("ecs")
    found: dict[str, str] = {}
    for cluster in ecs.list_clusters()["clusterArns"]:
        members = ecs.list_container_instances(cluster=cluster)["containerInstanceArns"]
        described: list[Any] = (
            ecs.describe_container_instances(cluster=cluster, containerInstances=members)[
                "containerInstances"
            ]
            if members
            else []
        )
        found |= {each["ec2InstanceId"]: each["status"] for each in described}
    return found


def test_a_drained_node_keeps_its_job_and_is_given_no_other_attempt(
    job_aws: EmbeddedAws, trainshed: Run, job: Run, held: str, tmp_path: Path
) -> None:
    first, second = hosts(job_aws, held)

    done = trainshed("node", "drain", "TrainCluster", second)

    assert done.code == 0, done.err
    assert f"job {held} (held) goes on there" in done.out
    assert states(job_aws) == {first: "ACTIVE", second: "DRAINING"}
    (tmp_path / "end").touch()
    assert job("watch", held).code == 0
    assert hosts(job_aws, held)[0] == first
    assert hosts(job_aws, held)[1] not in (first, second)
    assert states(job_aws) == {}


def test_a_node_that_is_taken_back_is_given_the_next_attempt(
    job_aws: EmbeddedAws, trainshed: Run, job: Run, held: str, tmp_path: Path
) -> None:
    before = hosts(job_aws, held)
    assert trainshed("node", "drain", "TrainCluster", before[1]).code == 0

    done = trainshed("node", "undrain", "TrainCluster", before[1])

    assert done.code == 0, done.err
    (tmp_path / "end").touch()
    assert job("watch", held).code == 0
    assert hosts(job_aws, held) == before


def test_a_job_that_loses_its_node_by_force_is_tried_again_on_another(
    job_aws: EmbeddedAws, trainshed: Run, job: Run, held: str, tmp_path: Path
) -> None:
    second = hosts(job_aws, held)[1]

    done = trainshed("node", "replace", "TrainCluster", second, "--force", "--yes")

    assert done.code == 0, done.err
    assert f"job {held} (held) loses this node: AWS Batch tries it again on other nodes" in done.err
    (tmp_path / "end").touch()
    assert job("watch", held).code == 0
    assert second not in hosts(job_aws, held)


def test_a_node_is_not_replaced_while_its_compute_environment_is_disabled(
    job_aws: EmbeddedAws, trainshed: Run, held: str
) -> None:
    batch = job_aws.client("batch")
    [environment] = batch.describe_compute_environments()["computeEnvironments"]
    name = environment["computeEnvironmentName"]
    batch.update_compute_environment(computeEnvironment=name, state="DISABLED")
    second = hosts(job_aws, held)[1]

    done = trainshed("node", "replace", "TrainCluster", second, "--force", "--yes")

    batch.update_compute_environment(computeEnvironment=name, state="ENABLED")
    assert done.code == 1
    assert f"compute environment {name} is disabled" in done.err
    assert states(job_aws)[second] == "ACTIVE"

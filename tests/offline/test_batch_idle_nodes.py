"""Nodes of AWS Batch that have no job (`instance.nodes.min`): `status`, `node`, and a rehearsal."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import deployed_jobs
import pytest
from command_bench import until
from command_line import Answer

from embedded_aws.embedded import EmbeddedAws
from trainshed.aws import Region
from trainshed.jobs.model import Job
from trainshed.jobs.nodes import running_nodes
from trainshed.ready_jobs import Work
from trainshed.rehearse.faults import FaultKind
from trainshed.rehearse.rehearsal import Rehearsal, run_job

CLUSTER = """name: KeptCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {min: 2, max: 3}}
"""
Run = Callable[..., Answer]
outputs = partial(deployed_jobs.outputs, cluster="KeptCluster")


@pytest.fixture(scope="module")
def clusters(write_project: Callable[[str], Path]) -> Path:
    return write_project(CLUSTER)


@pytest.fixture(scope="module")
def aws(
    clusters: Path, deploy_project: Callable[..., AbstractContextManager[EmbeddedAws]]
) -> Iterator[EmbeddedAws]:
    """An embedded AWS with the cluster deployed."""
    with deploy_project(clusters, "KeptNetwork", "KeptContainers", "KeptCluster") as found:
        yield found


@pytest.fixture
def run(
    aws: EmbeddedAws,
    clusters: Path,
    look_often: None,
    trainshed: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """`trainshed` in the project, whose nodes have booted and have no job."""
    until(lambda: len(nodes(aws)) == 2, "both nodes")
    aws.lead_here(monkeypatch)
    monkeypatch.chdir(clusters)
    return trainshed


def nodes(aws: EmbeddedAws) -> list[str]:
    """Return the nodes that have booted, the oldest first."""
    found = running_nodes(region(aws), "KeptCluster", {"trainshed:boot": "ok"})
    return [each.instance_id for each in found]


def region(aws: EmbeddedAws) -> Region:
    return Region("us-west-2", aws.client)


def job(aws: EmbeddedAws, *, count: int = 2, fault: FaultKind | None = None) -> Job:
    """Run a job on some nodes."""
    return run_job(
        Rehearsal(
            cluster="KeptCluster",
            nodes=count,
            work=Work(command=("sh", "-c", "echo rank $NODE_RANK")),
            fault=fault,
        ),
        aws,
        region(aws),
        outputs(aws),
        lambda now, lines: None,
    )


def hosts(ended: Job) -> set[str]:
    """Return the instances of a job's nodes."""
    return {node.host.rpartition("/")[2] for node in ended.nodes}


def instance(aws: EmbeddedAws, instance_id: str) -> Any:
    [found] = aws.client("ec2").describe_instances(InstanceIds=[instance_id])["Reservations"]
    return found["Instances"][0]


def test_a_cluster_whose_nodes_have_no_job_is_well(run: Run) -> None:
    done = run("status", "KeptCluster", "--json")

    assert done.code == 0, done.out
    assert (done.json["nodes"]["wanted"], done.json["nodes"]["counts"]) == (2, {"running": 2})
    assert done.json["problems"] == []


def test_top_shows_nodes_without_a_job(aws: EmbeddedAws, run: Run) -> None:
    done = run("top", "KeptCluster", "--json")

    assert {each["instance_id"] for each in done.json} == set(nodes(aws))
    assert all(each["cpus"] for each in done.json)


def test_a_node_takes_jobs_again_after_its_reboot(aws: EmbeddedAws, run: Run) -> None:
    before = nodes(aws)

    done = run("node", "reboot", "KeptCluster", "0", "--yes")

    assert done.code == 0, done.err
    assert f"{before[0]}: has passed its checks, and takes jobs" in done.err
    assert nodes(aws) == before
    assert hosts(job(aws)) == set(before)


def test_a_drained_node_stays_and_is_given_no_job(aws: EmbeddedAws, run: Run) -> None:
    first = nodes(aws)[0]

    drained = run("node", "drain", "KeptCluster", first)
    ended = job(aws, count=1)
    told = run("status", "KeptCluster", "--json").json
    back = run("node", "undrain", "KeptCluster", first)

    assert (drained.code, back.code) == (0, 0), drained.err + back.err
    assert ended.status == "SUCCEEDED"
    assert first not in hosts(ended)
    assert told["nodes"]["counts"] == {"drained": 1, "running": 1}


def test_a_node_is_replaced_at_once(aws: EmbeddedAws, run: Run) -> None:
    first, second = nodes(aws)

    done = run("node", "replace", "KeptCluster", first, "--yes")

    assert done.code == 0, done.err
    assert "another is launched for the next job that needs one, or for nodes.min" in done.err
    assert instance(aws, first)["State"]["Name"] == "terminated"
    until(lambda: len(nodes(aws)) == 2, "another node")
    assert first not in nodes(aws)
    assert second in nodes(aws)


def test_a_node_that_is_unfit_between_jobs_is_replaced_before_the_next(
    aws: EmbeddedAws, run: Run
) -> None:
    first, second = nodes(aws)

    ended = job(aws, fault=FaultKind.UNFIT_NODE)

    assert ended.status == "SUCCEEDED"
    assert second in hosts(ended)
    assert first not in hosts(ended)
    gone = instance(aws, first)
    assert gone["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"

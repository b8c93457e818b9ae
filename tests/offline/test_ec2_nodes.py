"""`trainshed node` on a deployed cluster of plain EC2 nodes."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import deployed_jobs
import pytest
from command_bench import until
from command_line import Answer

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from trainshed.aws import Region
from trainshed.ready_jobs import Work
from trainshed.rehearse.faults import FaultKind
from trainshed.rehearse.rehearsal import Rehearsal, run_job

CLUSTER = """name: PlainCluster
region: us-west-2
orchestrator: ec2
instance: {type: trn1.32xlarge, nodes: {max: 2}}
"""
Run = Callable[..., Answer]
outputs = partial(deployed_jobs.outputs, cluster="PlainCluster")


@pytest.fixture(scope="module")
def clusters(write_project: Callable[[str], Path]) -> Path:
    return write_project(CLUSTER)


@pytest.fixture(scope="module")
def aws(
    clusters: Path, deploy_project: Callable[..., AbstractContextManager[EmbeddedAws]]
) -> Iterator[EmbeddedAws]:
    """An embedded AWS with the cluster deployed, whose nodes have booted."""
    with deploy_project(clusters, "PlainNetwork", "PlainCluster", cell="neuron/ec2") as found:
        yield found


def nodes(aws: EmbeddedAws) -> dict[str, dict[str, str]]:
    """Return the tags of the running nodes, the oldest first, by their ids."""
    found = aws.client("ec2").describe_instances(
        Filters=[{"Name": "instance-state-name", "Values": ["running"]}]
    )
    there = [each for group in found["Reservations"] for each in group["Instances"]]
    return {
        each["InstanceId"]: {tag["Key"]: tag["Value"] for tag in each["Tags"]}
        for each in sorted(there, key=lambda it: (it["LaunchTime"], it["PrivateIpAddress"]))
    }


def booted(aws: EmbeddedAws) -> list[str]:
    return [name for name, tags in nodes(aws).items() if tags.get("trainshed:boot") == "ok"]


@pytest.fixture
def run(
    aws: EmbeddedAws,
    clusters: Path,
    look_often: None,
    trainshed: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Run]:
    """`trainshed` in the project, with both nodes; afterwards no job is left, and none drained."""
    until(lambda: len(booted(aws)) == 2, "the second node")
    aws.lead_here(monkeypatch)
    monkeypatch.chdir(clusters)

    yield trainshed

    ssm = aws.client("ssm")
    for each in ssm.list_commands()["Commands"]:
        ssm.cancel_command(CommandId=each["CommandId"])
    aws.client("ec2").delete_tags(Resources=[*nodes(aws)], Tags=[{"Key": "trainshed:drained"}])


def start(run: Run, script: str, nodes: int) -> str:
    """Submit a script; return the job's id."""
    done = run("job", "submit", "PlainCluster", "--nodes", str(nodes), "--", "sh", "-c", script)
    assert done.code == 0, done.err
    return done.out.strip()


def test_a_drained_node_is_given_no_job_until_it_is_taken_back(
    aws: EmbeddedAws, run: Run, tmp_path: Path
) -> None:
    first, second = nodes(aws)

    drained = run("node", "drain", "PlainCluster", "0")
    refused = run("job", "submit", "PlainCluster", "--nodes", "2", "--", "true")
    job_id = start(run, "true", 1)
    back = run("node", "undrain", "PlainCluster", first)
    assert run("job", "watch", job_id).code == 0
    both = start(run, "true", 2)

    assert drained.out.splitlines() == [
        f"{first} takes no more jobs",
        f"take it back: trainshed node undrain PlainCluster {first}",
    ]
    assert refused.code == 1
    assert f"{first} is drained: trainshed node undrain PlainCluster NODE" in refused.err
    [command] = aws.client("ssm").list_commands(CommandId=job_id)["Commands"]
    assert command["InstanceIds"] == [second]
    assert back.out.strip() == f"{first} takes jobs again"
    assert run("job", "watch", both).code == 0


def test_who_may_not_see_the_jobs_of_a_node_does_not_drain_it(aws: EmbeddedAws, run: Run) -> None:
    first, _ = nodes(aws)
    aws.fail(
        Fault(
            service="ssm",
            operation="ListCommands",
            code="AccessDeniedException",
            message="no",
            count=None,
        )
    )

    refused = run("node", "drain", "PlainCluster", "0")

    aws.fail()
    assert refused.code == 1
    assert "may not call ssm:ListCommands" in refused.err
    assert "trainshed:drained" not in nodes(aws)[first]


@pytest.fixture
def held(run: Run, tmp_path: Path) -> Iterator[str]:
    """The id of a job on the oldest node, which ends when that node is drained."""
    held = f"touch {tmp_path}/began; while [ ! -e {tmp_path}/end ]; do sleep 0.1; done"
    job_id = start(run, held, 1)
    until((tmp_path / "began").exists, "the job")
    yield job_id


def test_a_node_is_replaced_when_its_job_has_ended(
    aws: EmbeddedAws, run: Run, held: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = nodes(aws)

    end, pause = tmp_path / "end", time.sleep

    def end_the_job(seconds: float) -> None:
        if not end.exists():
            assert "trainshed:drained" in nodes(aws)[first]
            end.touch()
        pause(seconds)

    with monkeypatch.context() as patch:
        patch.setattr("trainshed.repair.repair.time.sleep", end_the_job)
        done = run("node", "replace", "PlainCluster", first, "--yes", "--json")

    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["node"], told["jobs"]) == (first, [held])
    assert f"job {held} (PlainCluster) is waited for, however long it takes" in done.err
    assert f"waiting for {held}" in done.err
    assert set(nodes(aws)) == {second, told["replacement"]}
    assert run("job", "watch", held).code == 0


def test_an_interruption_leaves_the_node_drained_and_says_how_to_go_on(
    aws: EmbeddedAws, run: Run, held: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = nodes(aws)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("trainshed.repair.repair.time.sleep", interrupt)
        stopped = run("node", "replace", "PlainCluster", "0", "--yes")

    assert stopped.code == 130
    assert stopped.err.splitlines()[-1] == (
        f"{first} stays drained while it is there; go on: trainshed node replace PlainCluster "
        f"{first}; or give it jobs again: trainshed node undrain PlainCluster {first}"
    )
    assert "trainshed:drained" in nodes(aws)[first]
    (tmp_path / "end").touch()
    assert run("job", "watch", held).code == 0


def test_a_node_is_replaced_under_its_job_by_force(aws: EmbeddedAws, run: Run, held: str) -> None:
    first, second = nodes(aws)

    done = run("node", "replace", "PlainCluster", "0", "--yes", "--force")

    assert done.code == 0, done.err
    assert f"job {held} (PlainCluster) loses this node: it fails; submit it again" in done.err
    assert run("job", "watch", held).code == 1
    assert set(booted(aws)) > {second}
    assert first not in nodes(aws)


def test_a_node_takes_jobs_again_after_its_reboot(aws: EmbeddedAws, run: Run) -> None:
    before = nodes(aws)
    first, _ = before

    done = run("node", "reboot", "PlainCluster", first, "--yes")

    assert done.code == 0, done.err
    assert "has passed its checks, and takes jobs" in done.err
    assert nodes(aws) == before
    assert run("job", "watch", start(run, "true", 2)).code == 0


def test_a_node_that_is_unfit_between_jobs_is_replaced_before_the_next(
    aws: EmbeddedAws, run: Run
) -> None:
    first, second = nodes(aws)
    printed: list[str] = []

    job = run_job(
        Rehearsal(
            cluster="PlainCluster",
            nodes=2,
            work=Work(command=("sh", "-c", "echo rank $NODE_RANK")),
            fault=FaultKind.UNFIT_NODE,
        ),
        aws,
        Region("us-west-2", aws.client),
        outputs(aws),
        lambda _, lines: printed.extend(lines),
    )

    assert job.status == "SUCCEEDED"
    hosts = {node.host for node in job.nodes}
    assert second in hosts
    assert first not in hosts
    [gone] = aws.client("ec2").describe_instances(InstanceIds=[first])["Reservations"]
    assert gone["Instances"][0]["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"


def test_a_node_is_not_replaced_while_no_other_is_launched(aws: EmbeddedAws, run: Run) -> None:
    scaling, group = aws.client("autoscaling"), {"AutoScalingGroupName": "PlainCluster"}
    scaling.suspend_processes(**group, ScalingProcesses=["Launch"])
    before = nodes(aws)

    done = run("node", "replace", "PlainCluster", "0", "--yes")

    scaling.resume_processes(**group, ScalingProcesses=["Launch"])
    assert done.code == 1
    assert "is not replaced: the launches of its group are suspended" in done.err
    assert nodes(aws) == before


def test_nothing_is_ended_without_an_answer(aws: EmbeddedAws, run: Run) -> None:
    before = nodes(aws)

    done = run("node", "replace", "PlainCluster", "0")

    assert done.code == 2
    assert "it is terminated, with what is on its disks, and another is launched" in done.err
    assert "nothing can be asked: add --yes" in done.err
    assert nodes(aws) == before


def test_a_node_that_is_not_there_is_reported(run: Run) -> None:
    done = run("node", "drain", "PlainCluster", "i-0")

    assert done.code == 2
    assert "node i-0: there is no such node; those that run: 0 (i-" in done.err

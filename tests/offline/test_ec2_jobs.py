"""`trainshed job` on a deployed cluster of plain EC2 nodes, whose jobs really run."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import deployed_jobs
import job_bench
import pytest
from command_bench import until
from command_line import Answer
from deployed_jobs import deploy_stacks
from documented import documented

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.job_settings import JobSettings
from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.jobs.model import Job
from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.plan import load_fleet
from trainshed.ready_jobs import Work
from trainshed.rehearse.faults import FaultKind
from trainshed.rehearse.rehearsal import Rehearsal, run_job

CLUSTER = """name: PlainCluster
region: us-west-2
orchestrator: ec2
instance: {type: trn1.32xlarge, nodes: {max: 3}}
capacity: {spot: {}}
job: {environment: {GREETING: "it's {{ on }}"}}
"""
Run = Callable[..., Answer]
outputs = partial(deployed_jobs.outputs, cluster="PlainCluster")


@pytest.fixture(scope="module")
def clusters(write_project: Callable[[str], Path]) -> Path:
    return write_project(CLUSTER)


@pytest.fixture(scope="module")
def assembly(clusters: Path, synthesise: Callable[..., Path]) -> Path:
    return synthesise(load_fleet([clusters / "clusters/train.yaml"]))


@pytest.fixture(scope="module")
def aws(
    clusters: Path, deploy_project: Callable[..., AbstractContextManager[EmbeddedAws]]
) -> Iterator[EmbeddedAws]:
    """An embedded AWS with the cluster deployed, whose nodes have booted."""
    with deploy_project(clusters, "PlainNetwork", "PlainCluster", cell="neuron/ec2") as found:
        yield found


def running(aws: EmbeddedAws) -> dict[str, dict[str, str]]:
    """Return the tags of the running nodes, by their ids."""
    found = aws.client("ec2").describe_instances(
        Filters=[{"Name": "instance-state-name", "Values": ["running"]}]
    )
    return {
        each["InstanceId"]: {tag["Key"]: tag["Value"] for tag in each["Tags"]}
        for reservation in found["Reservations"]
        for each in reservation["Instances"]
    }


def _booted(aws: EmbeddedAws) -> int:
    return sum(tags.get("trainshed:boot") == "ok" for tags in running(aws).values())


@pytest.fixture
def job(
    aws: EmbeddedAws,
    clusters: Path,
    look_often: None,
    trainshed: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Run]:
    """`trainshed job` in the project, with all nodes; afterwards no job is left."""
    # A test before may have ended one, which is replaced at once.
    until(lambda: _booted(aws) == 3, "the third node")
    aws.lead_here(monkeypatch)
    monkeypatch.chdir(clusters)

    yield lambda *arguments: trainshed("job", *arguments)

    ssm = aws.client("ssm")
    for each in ssm.list_commands()["Commands"]:
        ssm.cancel_command(CommandId=each["CommandId"])


def rules(done: Answer) -> list[str]:
    return [line.split()[0] for line in done.out.splitlines() if line.startswith("TS-")]


def start(job: Run, script: str, *options: str) -> str:
    """Submit a script for the launcher to run on every node; return the job's id."""
    done = job("submit", "PlainCluster", *options, "--", "sh", "-c", script)
    assert done.code == 0, done.err
    return done.out.strip()


def wait_until_it_prints(job_id: str, text: str) -> "subprocess.Popen[str]":
    """Wait for a line of the main node; return the process that goes on to follow it."""
    command = [sys.executable, "-m", "trainshed.cli", "job", "logs", job_id, "--follow"]
    followed = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert followed.stdout is not None
    assert any(text in line for line in followed.stdout)
    return followed


def test_all_nodes_have_booted_when_the_stack_is_there(aws: EmbeddedAws) -> None:
    nodes = running(aws)

    assert len(nodes) == 3
    assert {tags["trainshed:boot"] for tags in nodes.values()} == {"ok"}
    assert {tags["aws:autoscaling:groupName"] for tags in nodes.values()} == {
        outputs(aws)["NodeGroup"]
    }
    events = aws.client("cloudformation").describe_stack_events(StackName="PlainCluster")
    signals = {
        each["ResourceStatusReason"]
        for each in events["StackEvents"]
        if "SUCCESS signal" in each.get("ResourceStatusReason", "")
    }
    assert signals == {f"Received SUCCESS signal with UniqueId {node}" for node in nodes}


def test_a_command_runs_on_every_node_through_the_launcher(aws: EmbeddedAws, job: Run) -> None:
    done = job(
        *("submit", "PlainCluster", "--nodes", "3", "--name", "ranks", "--env", "WORD=a=b"),
        *("--watch", "--", "sh", "-c", "echo rank $NODE_RANK of $NNODES: $WORD, $GREETING"),
    )

    assert done.code == 0, done.err
    job_id, *shown = done.out.splitlines()
    assert "node 0: rank 0 of 3: a=b, it's {{ on }}" in shown
    assert any("job SUCCEEDED, nodes: 3 SUCCEEDED" in line for line in shown)
    assert "rank 2 of 3: a=b, it's {{ on }}" in job("logs", job_id, "--node", "2").out.splitlines()
    assert job("why", job_id).out.splitlines()[1:] == ["AWS reports nothing wrong with it"]
    listed = json.loads(job("list", "PlainCluster", "--json").out)
    assert (listed[0]["job_id"], listed[0]["name"], listed[0]["nodes"], listed[0]["status"]) == (
        *(job_id, "ranks", 3, "SUCCEEDED"),
    )


def test_a_job_is_found_by_its_name(job: Run) -> None:
    job_id = start(job, "echo here", "--name", "by-name", "--nodes", "1")

    assert job("watch", "by-name").code == 0
    assert job_id in job("why", "by-name").out


def test_the_exit_code_of_a_failed_command_is_explained(job: Run) -> None:
    job_id = start(job, '[ "$NODE_RANK" = 0 ] || { echo broken; exit 3; }; sleep 60')

    done = job("watch", job_id)
    explained = job("why", job_id)

    assert done.code == 1
    assert "  | broken" in done.out
    assert rules(explained) == ["TS-JOB-015"]
    assert "ended with exit code 3" in explained.out


def test_nodes_that_run_a_job_are_given_to_no_other(job: Run, tmp_path: Path) -> None:
    first = start(job, f"touch {tmp_path}/began; while [ ! -e {tmp_path}/end ]; do sleep 0.1; done")

    second = job("submit", "PlainCluster", "--nodes", "1", "--", "true")

    assert second.code == 1
    assert "1 nodes are needed, and 0 of PlainCluster are free: 3 have booted" in second.err
    assert f"others run {first}: wait for these jobs, or cancel them" in second.err
    (tmp_path / "end").touch()
    assert job("watch", first).code == 0
    assert job("submit", "PlainCluster", "--nodes", "1", "--watch", "--", "true").code == 0


def test_a_cancelled_job_writes_its_checkpoint(aws: EmbeddedAws, job: Run, tmp_path: Path) -> None:
    training = (
        f"trap 'echo saved >>{tmp_path}/checkpoint; exit 0' TERM; echo began; "
        "while :; do sleep 0.1; done"
    )
    job_id = start(job, training, "--nodes", "2")
    followed = wait_until_it_prints(job_id, "began")

    done = job("cancel", job_id)

    assert done.code == 0
    watched = job("watch", job_id)
    assert watched.code == 1
    assert "TS-JOB-019" in rules(job("why", job_id))
    followed.wait()
    # The processes end after the command has.
    checkpoint = tmp_path / "checkpoint"
    until(
        lambda: checkpoint.exists() and checkpoint.read_text() == "saved\nsaved\n",
        "the checkpoints of both nodes",
    )


def test_a_node_that_a_job_marks_unfit_powers_off_and_is_replaced(
    aws: EmbeddedAws, job: Run
) -> None:
    before = set(running(aws))
    mark = 'touch "$EMBEDDED_AWS_NODE/run/trainshed/unfit/mark"'

    job_id = start(job, f"test $NODE_RANK != 1 || {mark}")

    assert job("watch", job_id).code == 0
    until(lambda: len(before - set(running(aws))) == 1, "the end of the node")
    until(lambda: _booted(aws) == 3, "another node")
    [lost] = before - set(running(aws))
    [found] = aws.client("ec2").describe_instances(InstanceIds=[lost])["Reservations"]
    assert found["Instances"][0]["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"


def test_a_node_that_is_terminated_ends_the_job_and_is_replaced(aws: EmbeddedAws, job: Run) -> None:
    job_id = start(job, "echo began; exec sleep 90")
    wait_until_it_prints(job_id, "began").terminate()
    [command] = aws.client("ssm").list_commands(CommandId=job_id)["Commands"]
    lost = command["InstanceIds"][2]

    aws.client("ec2").terminate_instances(InstanceIds=[lost])

    assert job("watch", job_id).code == 1
    explained = job("why", job_id)
    assert "TS-JOB-015" in rules(explained)
    assert "ended with exit code 197: a node of the job was lost" in explained.out
    # It stays, though the stack takes no signal any more.
    until(lambda: _booted(aws) == 3, "another node")
    [new] = running(aws).keys() - set(command["InstanceIds"])
    console = partial(aws.client("ec2").get_console_output, InstanceId=new)
    until(lambda: "WARNING: the boot's signal" in console()["Output"], "a warning")
    # The list says the same as the job, though Systems Manager waits for the lost node.
    listed = json.loads(job("list", "PlainCluster", "--json").out)
    assert listed[0]["status"] == "FAILED"


def test_a_job_whose_main_node_is_terminated_has_failed(aws: EmbeddedAws, job: Run) -> None:
    job_id = start(job, "echo began; exec sleep 90", "--nodes", "1")
    wait_until_it_prints(job_id, "began").terminate()
    [command] = aws.client("ssm").list_commands(CommandId=job_id)["Commands"]
    [lost] = command["InstanceIds"]

    aws.client("ec2").terminate_instances(InstanceIds=[lost])

    assert job("watch", job_id).code == 1
    explained = job("why", job_id)
    assert rules(explained) == ["TS-JOB-016"]
    assert f"the instance {lost} has ended, while it ran a node of the job" in explained.out
    again = f"submit the job again: trainshed job again {job_id}, and have it resume"
    assert again in explained.out


def test_files_go_with_a_job(job: Run, clusters: Path) -> None:
    (clusters / "words.txt").write_text("sent with the job\n")
    script = "echo $NODE_RANK: $(cat words.txt)"

    job_id = start(job, script, "--send", "words.txt", "--nodes", "2")

    assert job("watch", job_id).code == 0
    assert "0: sent with the job" in job("logs", job_id).out.splitlines()
    assert "1: sent with the job" in job("logs", job_id, "--node", "1").out.splitlines()


def test_a_job_is_submitted_again_as_it_was(job: Run, clusters: Path) -> None:
    (clusters / "words.txt").write_text("as they were\n")
    script = "echo $WORD $NNODES $(cat words.txt); sleep 0.1"
    first = start(
        *(job, script, "--send", "words.txt", "--nodes", "2", "--env", "WORD=again"),
        *("--name", "twice", "--timeout-hours", "1"),
    )
    assert job("watch", first).code == 0
    (clusters / "words.txt").write_text("changed\n")

    done = job("again", first, "--watch")

    assert done.code == 0, done.err
    second, *shown = done.out.splitlines()
    assert second != first
    assert "node 0: again 2 as they were" in shown
    listed = json.loads(job("list", "PlainCluster", "--json").out)
    assert [(each["job_id"], each["nodes"]) for each in listed if each["name"] == "twice"] == [
        (second, 2),
        (first, 2),
    ]


def test_a_job_that_runs_is_not_submitted_again(job: Run) -> None:
    job_id = start(job, "echo began; exec sleep 90", "--nodes", "1")

    done = job("again", job_id)

    assert done.code == 1
    assert f"job {job_id} is not over: it is " in done.err
    assert f"trainshed job cancel {job_id}" in done.err


def test_a_node_that_ec2_takes_back_ends_the_job_in_time_and_is_replaced(
    aws: EmbeddedAws, job: Run
) -> None:
    printed: list[str] = []
    training = (
        "trap 'echo \"checkpoint before $(cat $TRAINSHED_DEADLINE)\"; exit 5' TERM; "
        "echo step; sleep 600 & wait"
    )
    rehearsal = Rehearsal(
        cluster="PlainCluster",
        work=Work(command=("trainshed-launch", "sh", "-c", training)),
        fault=FaultKind.SPOT_INTERRUPTION,
    )
    before = running(aws).keys()

    ended = run_job(
        rehearsal,
        aws,
        Region("us-west-2", aws.client),
        outputs(aws),
        lambda _, lines: printed.extend(lines),
    )

    assert [node.ending.exit_code for node in ended.nodes if node.ending] == [PEER_LOST] * 3
    [notice] = [line for line in printed if "back (interruption)" in line]
    [checkpoint] = [line for line in printed if line.startswith("checkpoint before ")]
    assert checkpoint.removeprefix("checkpoint before ") in notice
    again = f"submit it again: trainshed job again {ended.job_id}"
    assert again in job("watch", ended.job_id).err
    assert again in job("why", ended.job_id).out
    until(lambda: len(running(aws).keys() - before) == 1, "the node in place of it")


def test_a_recommendation_ends_no_job_and_no_node(
    aws: EmbeddedAws, job: Run, tmp_path: Path
) -> None:
    told, before = tmp_path / "told", running(aws).keys()
    # It goes on until the launcher has told of it.
    waits = f"echo step; for i in $(seq 600); do [ -e {told} ] && exit; sleep 0.1; done; exit 7"
    rehearsal = Rehearsal(
        cluster="PlainCluster",
        work=Work(command=("trainshed-launch", "sh", "-c", waits)),
        fault=FaultKind.REBALANCE,
    )

    def seen(_: Job, lines: Sequence[str]) -> None:
        if any("EC2 may take node 1 (" in line for line in lines):
            told.touch()

    ended = run_job(rehearsal, aws, Region("us-west-2", aws.client), outputs(aws), seen)

    assert [node.ending.exit_code for node in ended.nodes if node.ending] == [0] * 3
    assert running(aws).keys() == before


def test_a_node_that_loses_its_devices_under_a_job_is_named_and_replaced(
    aws: EmbeddedAws,
) -> None:
    printed: list[str] = []
    rehearsal = Rehearsal(
        cluster="PlainCluster",
        work=Work(command=("trainshed-launch", "sh", "-c", "echo step; exec sleep 90")),
        fault=FaultKind.LOST_DEVICE,
    )

    ended = run_job(
        rehearsal,
        aws,
        Region("us-west-2", aws.client),
        outputs(aws),
        lambda _, lines: printed.extend(lines),
    )

    assert ended.status == "FAILED"
    codes = [node.ending.exit_code for node in ended.nodes if node.ending]
    assert codes[0] == PEER_LOST
    [bad] = re.findall(
        r"node 1 \([\d.]+\) lost a device while the command ran: 0 of 16 neuron devices are on the "
        r"PCI bus; (i-\w+) goes down",
        "\n".join(printed),
    )
    until(lambda: bad not in running(aws), "the end of the node")
    ec2 = aws.client("ec2")
    [found] = ec2.describe_instances(InstanceIds=[bad])["Reservations"][0]["Instances"]
    assert found["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"
    until(lambda: _booted(aws) == 3, "the node in place of it")


def test_a_job_goes_on_while_a_deployment_changes_the_ami_of_its_nodes(aws: EmbeddedAws) -> None:
    rehearsal = Rehearsal(
        cluster="PlainCluster",
        work=Work(command=("trainshed-launch", "sh", "-c", "echo step; exec sleep 8")),
        fault=FaultKind.CHANGED_AMI,
    )
    before = running(aws).keys()

    ended = run_job(
        rehearsal,
        aws,
        Region("us-west-2", aws.client),
        outputs(aws),
        lambda *_: None,
    )

    assert [node.ending.exit_code for node in ended.nodes if node.ending] == [0] * 3
    assert running(aws).keys() == before
    # Those that come later have the other one.
    ec2, first = aws.client("ec2"), sorted(before)[0]
    ec2.terminate_instances(InstanceIds=[first])
    until(lambda: _booted(aws) == 3, "the node in place of it")
    [new] = running(aws).keys() - before
    [found] = ec2.describe_instances(InstanceIds=[new])["Reservations"][0]["Instances"]
    [ami] = ec2.describe_images(ImageIds=[found["ImageId"]])["Images"]
    assert ami["Name"].endswith("-next")


def test_a_node_that_ec2_takes_back_gets_no_job(aws: EmbeddedAws, job: Run) -> None:
    taken = sorted(running(aws))[0]
    aws.notify_spot(taken, seconds=600)

    done = job("submit", "PlainCluster", "--nodes", "3", "--", "true")

    assert done.code == 1
    assert "3 nodes are needed, and 2 of PlainCluster are free: 3 have booted" in done.err
    assert f"; EC2 takes {taken} back; see the launches" in done.err
    assert job("submit", "PlainCluster", "--nodes", "2", "--watch", "--", "true").code == 0
    # Another one comes in its place.
    aws.client("ec2").terminate_instances(InstanceIds=[taken])


def test_a_rehearsal_runs_a_job_on_the_nodes_and_has_few_faults_for_them(
    aws: EmbeddedAws, job: Run
) -> None:
    printed: list[str] = []
    command = ("trainshed-launch", "sh", "-c", "echo $NODE_RANK of $NNODES")
    rehearsal = Rehearsal(cluster="PlainCluster", work=Work(command=command))

    region = Region("us-west-2", aws.client)
    ended = run_job(rehearsal, aws, region, outputs(aws), lambda _, lines: printed.extend(lines))

    assert ended.status == "SUCCEEDED"
    assert "0 of 3" in printed
    with pytest.raises(
        TrainshedError, match="--fault kill-child: it is for orchestrator batch, eks"
    ):
        run_job(
            replace(rehearsal, fault=FaultKind.KILL_CHILD),
            aws,
            region,
            outputs(aws),
            lambda *_: None,
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--timeout-hours", "49"), "a time-out of 176400 seconds is not possible"),
        (("--name", "x" * 101), "--name has 101 characters; Systems Manager takes 100"),
        (("--nodes", "4"), "PlainCluster has at most 3 nodes"),
    ],
)
def test_wrong_input_is_an_error_that_says_what_to_do(
    job: Run, arguments: tuple[str, ...], said: str
) -> None:
    done = job("submit", "PlainCluster", *arguments, "--", "true")

    assert done.code == 2
    assert said in done.err


@pytest.fixture
def shell(
    job: Run, aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`trainshed job shell PlainCluster`; the AWS CLI prints how it is called.

    Only AWS has Session Manager.
    """
    for program, script in {
        "aws": '#!/bin/sh\nprintf "%s\\n" "$@"\n',
        "session-manager-plugin": "#!/bin/sh\n",
    }.items():
        (tmp_path / program).write_text(script)
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), os.environ["PATH"]]))
    monkeypatch.setenv("AWS_ENDPOINT_URL_EC2", aws.endpoint)
    monkeypatch.delenv("AWS_ENDPOINT_URL")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = documented("trainshed job shell PlainCluster")
        program = [sys.executable, "-m", "trainshed.cli"]
        return subprocess.run([*program, *words, *arguments], capture_output=True, text=True)

    return run


def oldest_first(aws: EmbeddedAws) -> list[dict[str, Any]]:
    found = aws.client("ec2").describe_instances(
        Filters=[{"Name": "instance-state-name", "Values": ["running"]}]
    )
    nodes = [each for group in found["Reservations"] for each in group["Instances"]]
    return sorted(nodes, key=lambda node: (node["LaunchTime"], node["PrivateIpAddress"]))


def test_a_shell_opens_on_the_oldest_node_or_on_the_one_that_is_named(
    aws: EmbeddedAws, shell: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    nodes = oldest_first(aws)

    first, third, named, at = (
        shell(),
        shell("--node", "2"),
        shell("--node", nodes[1]["InstanceId"]),
        shell("--node", nodes[1]["PrivateIpAddress"]),
    )

    session = ["ssm", "start-session", "--region", "us-west-2", "--target"]
    assert first.stdout.splitlines() == [*session, nodes[0]["InstanceId"]]
    assert first.stderr == (
        f"node 0 of 3: {nodes[0]['InstanceId']}, {nodes[0]['PrivateIpAddress']}, boot: ok\n"
    )
    assert third.stdout.splitlines() == [*session, nodes[2]["InstanceId"]]
    assert named.stdout == at.stdout
    assert named.stdout.splitlines() == [*session, nodes[1]["InstanceId"]]


def test_a_program_runs_on_a_node(shell: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = shell("--", "sh", "-c", "neuron-ls; date")

    assert done.stdout.splitlines()[-4:] == [
        *("--document-name", "AWS-StartInteractiveCommand"),
        *("--parameters", json.dumps({"command": ["sh -c 'neuron-ls; date'"]})),
    ]


def test_a_shell_that_cannot_be_is_reported(
    aws: EmbeddedAws,
    shell: Callable[..., subprocess.CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    no_node = shell("--node", "3")
    (tmp_path / "session-manager-plugin").unlink()
    no_plugin = shell()
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.endpoint)
    no_aws = shell()

    assert [each.returncode for each in (no_node, no_plugin, no_aws)] == [2, 2, 2]
    assert "error: node 3: there is no such node; those that run: 0 (i-" in no_node.stderr
    assert "is not on PATH; install the Session Manager plugin of the AWS CLI" in no_plugin.stderr
    assert "only AWS itself has Session Manager" in no_aws.stderr


def test_the_next_type_is_launched_for_nodes_that_the_first_has_no_capacity_for(
    synthesise: Callable[..., Path], publish_ami: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "plain.yaml").write_text(
        "name: PlainCluster\nregion: us-west-2\norchestrator: ec2\n"
        "instance: {type: p4d.24xlarge, nodes: {max: 2}}\n"
        "capacity: {instance_types: [p4d.24xlarge, p4de.24xlarge]}\n"
    )
    assembly = synthesise(load_fleet([tmp_path / "plain.yaml"]))
    with job_bench.job_aws(tmp_path, JobSettings(loopback=True, speed=60)) as aws:
        publish_ami(aws, "nvidia/ec2")
        deploy_stacks(aws, assembly, "PlainNetwork")
        aws.fail(
            Fault(
                service="ec2",
                operation="RunInstances",
                code="InsufficientInstanceCapacity",
                count=1,
                when={"InstanceType": "p4d.24xlarge"},
            )
        )

        deploy_stacks(aws, assembly, "PlainCluster")

        found = aws.client("ec2").describe_instances()["Reservations"]
        types = [each["InstanceType"] for entry in found for each in entry["Instances"]]
        assert sorted(types) == ["p4d.24xlarge", "p4de.24xlarge"]


def test_without_capacity_for_all_nodes_there_are_none(
    assembly: Path, publish_ami: Callable[..., str], tmp_path: Path
) -> None:
    # The 45 minutes of the creation policy pass in half a second.
    with job_bench.job_aws(tmp_path, JobSettings(loopback=True, speed=5000)) as aws:
        publish_ami(aws, "neuron/ec2")
        deploy_stacks(aws, assembly, "PlainNetwork")
        code = "InsufficientInstanceCapacity"
        aws.fail(Fault(service="ec2", operation="RunInstances", code=code, count=None))

        with pytest.raises(DeploymentFailed, match="PlainCluster did not deploy"):
            deploy_stacks(aws, assembly, "PlainCluster")

        assert running(aws) == {}
        events = aws.client("cloudformation").describe_stack_events(StackName="PlainCluster")
        assert any(
            "Received 0 SUCCESS signal(s) out of 3" in each.get("ResourceStatusReason", "")
            for each in events["StackEvents"]
        )

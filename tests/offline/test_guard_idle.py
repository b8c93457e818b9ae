"""Clusters whose guard lets idle nodes go, on an embedded AWS, and what commands say of it."""

import json
import os
import shlex
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import job_bench
import pytest
from command_bench import until
from command_line import Answer
from deployed_jobs import deploy_stacks

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.metrics import NODE_METRICS, accelerator_metrics
from trainshed.plan import load_fleet

PROGRAMS = Path(__file__).parents[2] / "packer/files/opt/trainshed"
KEPT = """name: IdleCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {min: 1, max: 2}}
image: {uri: "registry.example/train:1"}
guard: {idle: {minutes: 30, action: scale-down}}
"""
PLAIN = """name: PlainCluster
region: us-west-2
orchestrator: ec2
instance: {type: trn1.32xlarge, nodes: {max: 2}}
guard: {idle: {minutes: 30, action: scale-down}}
"""
KUBE = """name: KubeCluster
region: us-west-2
orchestrator: eks
instance: {type: trn1.32xlarge, nodes: {max: 2}}
kubernetes: {access: [{role: MachineLearning}]}
guard: {idle: {minutes: 30, action: scale-down}}
"""
NAME = "--auto-scaling-group-name"
Run = Callable[..., Answer]


def _send(aws: EmbeddedAws, cluster: str, use: float) -> None:
    """Send what idle or busy nodes send in three quarters of an hour."""
    neuron = accelerator_metrics("neuron", "ecs")
    now = datetime.now(UTC)
    for metric, value in ((neuron.utilization, use), (NODE_METRICS.memory, 20)):
        aws.client("cloudwatch").put_metric_data(
            Namespace="trainshed",
            MetricData=[
                {
                    "MetricName": metric.name,
                    "Dimensions": [{"Name": "Cluster", "Value": cluster}],
                    "Timestamp": now - timedelta(minutes=ago),
                    "Value": value,
                }
                for ago in range(1, 45)
            ],
        )


def _file(folder: Path, text: str) -> Path:
    file = folder / "cluster.yaml"
    file.write_text(text)
    return file


def _guard_lines(done: Answer) -> list[str]:
    return [each for each in done.out.splitlines() if each.startswith("guard")]


@pytest.mark.parametrize(("use", "least"), [(0.04, 0), (0.06, 128)])
def test_nodes_that_aws_batch_keeps_go_when_they_are_idle(
    clean_aws: EmbeddedAws,
    tmp_path: Path,
    synthesise: Callable[..., Path],
    publish_ami: Callable[..., str],
    trainshed: Run,
    monkeypatch: pytest.MonkeyPatch,
    use: float,
    least: int,
) -> None:
    file = _file(tmp_path, KEPT)
    publish_ami(clean_aws)
    clean_aws.lead_here(monkeypatch)
    deploy_stacks(clean_aws, synthesise(load_fleet([file])), "IdleNetwork", "IdleCluster")

    _send(clean_aws, "IdleCluster", use)

    def environment() -> tuple[str, int]:
        batch = clean_aws.client("batch")
        [found] = batch.describe_compute_environments()["computeEnvironments"]
        return found["state"], found["computeResources"]["minvCpus"]

    [alarm] = clean_aws.client("cloudwatch").describe_alarms(AlarmNames=["IdleCluster-idle"])[
        "MetricAlarms"
    ]
    assert alarm["StateValue"] == ("OK" if least else "ALARM")
    until(lambda: environment() == ("ENABLED", least), "the end of the function")
    said = _guard_lines(trainshed("status", str(file)))
    submitted = trainshed("job", "submit", str(file), "--nodes", "1", "--", "true")
    if least:
        assert not said
    else:
        [line] = said
        assert "no accelerator was busy for 30 minutes (alarm IdleCluster-idle" in line
        assert "jobs have nodes launched; to keep nodes again: aws batch" in line
        assert "minvCpus=128" in line
    # Its nodes come for the job.
    assert "warning: the cluster keeps no nodes" not in submitted.err


@pytest.fixture
def plain(
    publish_ami: Callable[..., str],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    synthesise: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[EmbeddedAws]:
    """An embedded AWS with a cluster of two plain EC2 nodes, which have booted."""
    monkeypatch.setenv("PATH", os.pathsep.join([str(PROGRAMS), os.environ["PATH"]]))
    settings = JobSettings(loopback=True, speed=60)
    with job_bench.job_aws(tmp_path_factory.mktemp("jobs"), settings) as found:
        publish_ami(found, "neuron/ec2")
        assembly = synthesise(load_fleet([_file(tmp_path, PLAIN)]))
        deploy_stacks(found, assembly, "PlainNetwork", "PlainCluster")
        yield found


def test_commands_say_that_plain_nodes_are_gone_because_they_were_idle(
    plain: EmbeddedAws, tmp_path: Path, trainshed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.lead_here(monkeypatch)
    file = str(tmp_path / "cluster.yaml")
    submitted = trainshed("job", "submit", file, "--nodes", "1", "--plain", "--", "sleep", "600")
    job_id = submitted.out.strip()
    assert job_id, submitted.err
    until(lambda: "RUNNING" in trainshed("job", "list", file).out, "the begin of the job")

    _send(plain, "PlainCluster", 0.0)

    until(lambda: "FAILED" in trainshed("job", "list", file).out, "the end of the nodes")
    why = trainshed("job", "why", job_id)
    status = trainshed("status", file)
    again = trainshed("job", "submit", file, "--nodes", "1", "--", "true")
    [line] = _guard_lines(status)
    idle = "the cluster keeps no nodes, as guard.idle has it when no accelerator was busy for 30 "
    assert "TS-JOB-038" in why.out
    assert idle in why.out
    assert idle in line
    assert again.code == 1
    assert f"warning: {idle}" in again.err

    start = shlex.split(line.rpartition("to keep nodes again: ")[2])
    assert start[:4] == ["aws", "autoscaling", "update-auto-scaling-group", NAME]
    assert start[5:] == ["--min-size", "2", "--desired-capacity", "2"]
    plain.client("autoscaling").update_auto_scaling_group(
        AutoScalingGroupName=start[4], MinSize=2, DesiredCapacity=2
    )
    until(lambda: not _guard_lines(trainshed("status", file)), "the start of the nodes")


def test_status_says_that_nodes_of_eks_are_gone_because_they_were_idle(
    publish_ami: Callable[..., str],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    synthesise: Callable[..., Path],
    trainshed: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = _file(tmp_path, KUBE)
    names = ("KubeNetwork", "KubeControlPlane", "KubeCluster")
    trust = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    with job_bench.job_aws(tmp_path_factory.mktemp("kube"), JobSettings(speed=3000)) as found:
        publish_ami(found, "neuron/eks-1.35")
        found.client("iam").create_role(
            RoleName="MachineLearning", AssumeRolePolicyDocument=document
        )
        found.lead_here(monkeypatch)
        deploy_stacks(found, synthesise(load_fleet([file])), *names)
        before = _guard_lines(trainshed("status", str(file)))

        _send(found, "KubeCluster", 0.0)

        lines = until(lambda: _guard_lines(trainshed("status", str(file))), "the guard")

    assert before == []
    assert "as guard.idle has it when no accelerator was busy for 30 minutes" in lines[0]
    assert "to keep nodes again: aws eks update-nodegroup-config" in lines[0]

"""Clusters whose guard stops their nodes at some time, on an embedded AWS with a fast clock."""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import job_bench
import pytest
from command_bench import until
from command_line import Answer
from deployed_jobs import deploy_stacks

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.aws import Region
from trainshed.jobs.nodes import running_nodes
from trainshed.plan import load_fleet

PROGRAMS = Path(__file__).parents[2] / "packer/files/opt/trainshed"
TOPIC = "arn:aws:sns:us-west-2:123456789012:people"
HOURS = '{days: mon-sun, from: "00:30", to: "23:30"}'
EXPIRY = datetime.now(UTC) + timedelta(days=9)
PLAIN = f"""name: GuardCluster
region: us-west-2
orchestrator: ec2
instance: {{type: trn1.32xlarge, nodes: {{max: 2}}}}
storage: {{efs: {{backup: false}}}}
notify: {TOPIC}
guard:
  expires: {EXPIRY:%Y-%m-%dT%H:%MZ}
  working_hours: {HOURS}
  budget: {{monthly_usd: 5000, at_percent: [10, 999]}}
"""
Synthesise = Callable[..., Path]


@pytest.fixture(scope="module")
def synthesised(tmp_path_factory: pytest.TempPathFactory, synthesise: Synthesise) -> Synthesise:
    """Synthesise a cluster by its file."""

    def run(text: str) -> Path:
        file = tmp_path_factory.mktemp("project") / "cluster.yaml"
        file.write_text(text)
        return synthesise(load_fleet([file]))

    return run


def allow_budgets(aws: EmbeddedAws) -> None:
    """Do what the owner of a topic that exists must do."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "budgets.amazonaws.com"},
        "Action": "sns:Publish",
        "Resource": TOPIC,
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    aws.client("sns").set_topic_attributes(
        TopicArn=TOPIC, AttributeName="Policy", AttributeValue=policy
    )


@pytest.fixture(scope="module")
def aws(
    synthesised: Synthesise,
    publish_ami: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[EmbeddedAws]:
    """An embedded AWS with a cluster of two plain EC2 nodes, which have booted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join([str(PROGRAMS), os.environ["PATH"]]))
        settings = JobSettings(loopback=True, speed=60)
        with job_bench.job_aws(tmp_path_factory.mktemp("jobs"), settings) as found:
            publish_ami(found, "neuron/ec2")
            found.client("sns").create_topic(Name="people")
            allow_budgets(found)
            found.client("sqs").create_queue(QueueName="mail")
            arn = TOPIC.replace("sns", "sqs").replace("people", "mail")
            found.client("sns").subscribe(TopicArn=TOPIC, Protocol="sqs", Endpoint=arn)
            deploy_stacks(found, synthesised(PLAIN), "GuardNetwork", "GuardEfs", "GuardCluster")
            yield found


def _to(clock: str) -> float:
    """Return the hours until it is so late, and a minute more."""
    now = datetime.now(UTC)
    then = datetime.combine(now, time.fromisoformat(clock), UTC) + timedelta(minutes=1)
    return ((then - now) % timedelta(days=1)) / timedelta(hours=1)


def _running(aws: EmbeddedAws) -> int:
    found = aws.client("ec2").describe_instances(
        Filters=[{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    )
    return sum(len(each["Instances"]) for each in found["Reservations"])


def _messages(aws: EmbeddedAws) -> list[Any]:
    sqs = aws.client("sqs")
    url = sqs.get_queue_url(QueueName="mail")["QueueUrl"]
    found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    return [json.loads(each["Body"]) for each in found]


def test_plain_nodes_are_there_in_working_hours_until_the_cluster_expires(
    aws: EmbeddedAws, synthesised: Synthesise
) -> None:
    at_first = _running(aws)
    night = _to("23:30")
    aws.let_pass(hours=night)
    until(lambda: _running(aws) == 0, "the night")

    # A deployment at night, which changes the launch template.
    changed = PLAIN.replace("max: 2}", "max: 2}, root_gib: 300")
    deploy_stacks(aws, synthesised(changed), "GuardCluster")
    after_deployment = _running(aws)

    aws.let_pass(hours=1.1)
    until(lambda: _running(aws) == 2, "the morning")
    # The night may have been a whole day away.
    aws.let_pass(days=6.5)
    spent = _messages(aws)
    aws.let_pass(days=1)
    told = _messages(aws)
    aws.let_pass(days=1.5)
    until(lambda: _running(aws) == 0, "the end")
    told = [each for each in (*told, *_messages(aws)) if "Budgets" not in each["Subject"]]

    assert (at_first, after_deployment) == (2, 0)
    assert all("budget is greater than $500.00 for" in each["Message"] for each in spent)
    assert spent
    assert [each["Subject"] for each in told] == [
        "Cluster expires in a day: GuardCluster",
        "Cluster expires in two hours: GuardCluster",
    ]
    assert all(f"{EXPIRY:%Y-%m-%d %H:%M} UTC" in each["Message"] for each in told)
    systems = aws.client("efs").describe_file_systems()["FileSystems"]
    assert [each["LifeCycleState"] for each in systems] == ["available"]


@pytest.fixture(scope="module")
def fast_aws(
    publish_ami: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedAws]:
    """An embedded AWS for clusters whose nodes run nothing."""
    with job_bench.job_aws(tmp_path_factory.mktemp("aws"), JobSettings(speed=3000)) as found:
        publish_ami(found)
        publish_ami(found, "neuron/eks-1.35")
        yield found


def test_an_environment_of_aws_batch_is_disabled_outside_of_working_hours(
    fast_aws: EmbeddedAws, synthesised: Synthesise
) -> None:
    text = f"""name: BatchCluster
region: us-west-2
instance: {{type: trn1.32xlarge, nodes: {{min: 1, max: 2}}}}
image: {{uri: "registry.example/train:1"}}
guard: {{working_hours: {HOURS}}}
"""
    deploy_stacks(fast_aws, synthesised(text), "BatchNetwork", "BatchCluster")

    def environment() -> tuple[str, int]:
        batch = fast_aws.client("batch")
        [found] = batch.describe_compute_environments()["computeEnvironments"]
        return found["state"], found["computeResources"]["minvCpus"]

    def nodes() -> int:
        return len(running_nodes(Region("us-west-2", fast_aws.client), "BatchCluster"))

    at_first = environment()
    until(lambda: nodes() == 1, "the node")
    fast_aws.let_pass(hours=_to("23:30"))
    at_night = environment()
    until(lambda: nodes() == 0, "the end of the node")
    fast_aws.let_pass(hours=1.1)

    assert (at_first, at_night) == (("ENABLED", 128), ("DISABLED", 0))
    assert environment() == ("ENABLED", 128)
    until(lambda: nodes() == 1, "another node")


def test_jobs_of_aws_batch_that_run_are_ended_once_their_cluster_expires(
    tmp_path: Path,
    synthesise: Synthesise,
    publish_ami: Callable[..., str],
    trainshed: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "end.yaml"
    file.write_text(
        f"""name: EndCluster
region: us-west-2
instance: {{type: trn1.32xlarge, nodes: {{max: 2}}}}
image: {{uri: "registry.example/train:1"}}
guard: {{expires: {EXPIRY:%Y-%m-%dT%H:%MZ}}}
"""
    )
    monkeypatch.setenv("PATH", os.pathsep.join([str(PROGRAMS), os.environ["PATH"]]))
    (tmp_path / "aws").mkdir()
    with job_bench.job_aws(tmp_path / "aws", JobSettings(loopback=True, speed=60)) as found:
        publish_ami(found)
        deploy_stacks(found, synthesise(load_fleet([file])), "EndNetwork", "EndCluster")
        found.lead_here(monkeypatch)
        batch = found.client("batch")

        def submit(hours: int) -> Answer:
            done = trainshed(
                *("job", "submit", str(file), "--nodes", "2", "--plain"),
                *("--timeout-hours", str(hours), "--", "sh", "-c", "echo begun; exec sleep 600"),
            )
            assert done.code == 0, done.err
            return done

        def job(job_id: str) -> tuple[str, str]:
            [described] = batch.describe_jobs(jobs=[job_id])["jobs"]
            return described["status"], described.get("statusReason", "")

        submitted = submit(300)
        assert "and guard.expires of the cluster ends jobs at" in submitted.err
        runs = submitted.out.strip()
        until(lambda: job(runs)[0] == "RUNNING", "the begin of the first job")
        submitted = submit(72)
        assert "guard.expires" not in submitted.err
        waits = submitted.out.strip()
        until(lambda: job(waits)[0] == "RUNNABLE", "the second job")
        found.let_pass(days=9.1)
        until(lambda: job(runs)[0] == "FAILED", "the end of the first job")

        assert f"guard.expires of EndCluster was {EXPIRY:%Y-%m-%d %H:%M} UTC" in job(runs)[1]
        assert job(waits)[0] == "RUNNABLE"
        [environment] = batch.describe_compute_environments()["computeEnvironments"]
        assert environment["state"] == "DISABLED"
        until(lambda: _running(found) == 0, "the end of the nodes")
        why = trainshed("job", "why", runs)
        assert "guard.expires of EndCluster was" in why.out


def test_a_node_group_of_eks_has_no_nodes_once_its_cluster_expires(
    fast_aws: EmbeddedAws, synthesised: Synthesise
) -> None:
    text = f"""name: KubeCluster
region: us-west-2
orchestrator: eks
instance: {{type: trn1.32xlarge, nodes: {{max: 2}}}}
kubernetes: {{access: [{{role: MachineLearning}}]}}
guard: {{expires: {EXPIRY:%Y-%m-%dT%H:%MZ}}}
"""
    trust = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    fast_aws.client("iam").create_role(
        RoleName="MachineLearning", AssumeRolePolicyDocument=document
    )
    deploy_stacks(fast_aws, synthesised(text), "KubeNetwork", "KubeControlPlane", "KubeCluster")

    [stack] = fast_aws.client("cloudformation").describe_stacks(StackName="KubeCluster")["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}

    def sizes() -> dict[str, int]:
        found = fast_aws.client("eks").describe_nodegroup(
            clusterName="kube", nodegroupName=outputs["NodeGroup"]
        )
        return dict(found["nodegroup"]["scalingConfig"])

    before = sizes()
    fast_aws.let_pass(days=12)

    assert before == {"minSize": 2, "maxSize": 2, "desiredSize": 2}
    assert sizes() == {"minSize": 0, "maxSize": 2, "desiredSize": 0}
    assert outputs["GuardStart"].endswith("minSize=2,maxSize=2,desiredSize=2")


def test_what_the_guard_has_stopped_is_not_wrong_until_somebody_starts_it(
    fast_aws: EmbeddedAws,
    tmp_path: Path,
    synthesise: Synthesise,
    trainshed: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Now is outside of them.
    day = datetime.now(UTC) + timedelta(days=3)
    file = tmp_path / "off.yaml"
    file.write_text(
        f"""name: OffCluster
region: us-west-2
instance: {{type: trn1.32xlarge}}
image: {{uri: "registry.example/train:1"}}
guard: {{working_hours: {{days: {day:%a}, from: "00:30", to: "23:30"}}}}
""".lower().replace("offcluster", "OffCluster")
    )
    deploy_stacks(fast_aws, synthesise(load_fleet([file])), "OffNetwork", "OffCluster")
    fast_aws.let_pass(days=7)
    fast_aws.lead_here(monkeypatch)

    done = trainshed("status", str(file))

    assert done.code == 0, done.out
    [line] = [each for each in done.out.splitlines() if each.startswith("guard")]
    assert "outside the working hours of the cluster" in line
    assert "--state ENABLED" in line

    batch = fast_aws.client("batch")
    [environment] = (
        each["computeEnvironmentName"]
        for each in batch.describe_compute_environments()["computeEnvironments"]
        if each["state"] == "DISABLED"
    )
    batch.update_compute_environment(computeEnvironment=environment, state="ENABLED")
    started = trainshed("status", str(file))

    assert started.code == 0, started.out
    assert not [each for each in started.out.splitlines() if each.startswith("guard")]

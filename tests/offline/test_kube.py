"""`trainshed kube` on the embedded EKS, behind which is a real API server."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import Answer, runner
from deployed_jobs import deploy_stacks
from eks_bench import until
from eks_operator import be_role
from job_bench import job_aws

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.job_settings import JobSettings
from embedded_aws.kubernetes.cache import unavailable
from trainshed.cli import main
from trainshed.kubernetes.objects import cluster_objects, manifest
from trainshed.kubernetes.queue import QueueObject
from trainshed.orchestrators import part
from trainshed.plan import load_fleet
from trainshed.status import usage

pytestmark = pytest.mark.server

CLUSTER = """name: KubeCluster
region: us-west-2
orchestrator: eks
instance: {type: trn1.32xlarge, nodes: {max: 2}}
kubernetes:
  access:
    - {role: Operator, policy: cluster-admin}
    - {role: Owner, policy: cluster-admin}
    - {role: Trainer, policy: edit}
"""
STACKS = ("KubeNetwork", "KubeControlPlane", "KubeCluster")
LOOKS = (
    *("cloudformation:DescribeStacks", "cloudformation:ListStackResources"),
    "eks:DescribeCluster",
)
Run = Callable[..., Answer]


@pytest.fixture(scope="module")
def aws(
    tmp_path_factory: pytest.TempPathFactory,
    synthesise: Callable[..., Path],
    publish_ami: Callable[..., str],
) -> Iterator[EmbeddedAws]:
    """One that has the cluster with its nodes, and roles of people."""
    if reason := unavailable():
        pytest.skip(reason)
    file = tmp_path_factory.mktemp("project") / "kube.yaml"
    file.write_text(CLUSTER)
    folder = synthesise(load_fleet([file]))
    # Faster, and CloudFormation would not wait for a control plane, which starts in real seconds.
    settings = JobSettings(speed=300)
    with job_aws(tmp_path_factory.mktemp("aws"), settings, kubernetes=True) as found:
        publish_ami(found, "neuron/eks-1.35")
        for role in ("Operator", "Trainer", "Stranger"):
            make_role(found, role, *LOOKS)
        make_role(found, "Owner", "*")
        deploy_stacks(found, folder, *STACKS)
        yield found


def make_role(aws: EmbeddedAws, name: str, *actions: str) -> None:
    root = {"AWS": "arn:aws:iam::123456789012:root"}
    trust = {"Effect": "Allow", "Principal": root, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    iam = aws.client("iam")
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=document)
    allowed = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    iam.put_role_policy(RoleName=name, PolicyName="describe", PolicyDocument=policy)


@pytest.fixture
def as_role(
    aws: EmbeddedAws,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], Run]:
    """Run `trainshed kube` with the credentials of a role."""
    run = runner("trainshed", main, capsys, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kube.yaml").write_text(CLUSTER)

    def become(role: str) -> Run:
        be_role(aws, f"arn:aws:iam::123456789012:role/{role}", monkeypatch)
        return partial(run, "kube")

    return become


def test_an_operator_applies_everything_and_then_the_nodes_are_as_planned(
    as_role: Callable[[str], Run],
) -> None:
    kube = as_role("Operator")

    before = kube("nodes", "kube.yaml")
    planned = kube("apply", "kube.yaml", "--dry-run", "--json")
    applied = kube("apply", "kube.yaml", "--wait-minutes", "2")
    after = kube("nodes", "kube.yaml", "--json")
    again = kube("apply", "kube.yaml", "--json")

    assert before.code == 1
    advice = "planned is 16; its device plugin does not run there: trainshed kube apply"
    assert before.out.count(f"aws.amazon.com/neuron is 0, {advice}") == 2
    assert {each["outcome"] for each in planned.json} == {"created"}
    assert applied.code == 0, applied.err
    assert "Namespace kube" in applied.out
    assert "has no Kueue, so KubeCluster gets no queue" in applied.err
    assert "DaemonSet kube-system/trainshed-kube-efa: created" in applied.err
    assert after.json["differences"] == []
    assert after.code == 0
    assert [each["allocatable"]["vpc.amazonaws.com/efa"] for each in after.json["nodes"]] == [
        "8",
        "8",
    ]
    assert [each["name"] for each in again.json] == [each["name"] for each in planned.json]
    assert {each["outcome"] for each in again.json} == {"unchanged"}


def test_who_may_only_edit_may_look_at_nodes_once_everything_is_applied(
    as_role: Callable[[str], Run],
) -> None:
    as_role("Operator")("apply", "kube.yaml")
    kube = as_role("Trainer")

    applied, nodes = kube("apply", "kube.yaml"), kube("nodes", "kube.yaml", "--json")

    assert applied.code == 1
    assert "give the role another policy in kubernetes.access" in applied.err
    assert len(nodes.json["nodes"]) == 2


def dimension_of(alarm: dict[str, Any]) -> str:
    """Return the value of the dimension of what an alarm looks at first."""
    name: str = alarm["Metrics"][0]["MetricStat"]["Metric"]["Dimensions"][0]["Value"]
    return name


def test_status_has_the_nodes_that_kubernetes_has(
    aws: EmbeddedAws,
    as_role: Callable[[str], Run],
    trainshed: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Two minutes are less than half a second here.
    monkeypatch.setattr(usage, "_RUN_SECONDS", "36000")
    as_role("Operator")("apply", "kube.yaml")
    as_role("Owner")

    found = trainshed("status", "kube.yaml")

    assert "nodes      2 wanted, 2 running, at most 2\n" in found.out
    # Their stand-ins have not our AMI's programs, which is what they say.
    assert [each["problem"] for each in trainshed("top", "kube.yaml", "--json").json] == [
        "its AMI has no trainshed-usage; bake and publish one, and replace the node"
    ] * 2
    # Its repository was not deployed here.
    [wrong] = [line for line in found.out.splitlines() if line.startswith("wrong ")]
    assert "stack KubeContainers is not deployed" in wrong
    [alarm] = aws.client("cloudwatch").describe_alarms(AlarmNames=["KubeCluster-nodes-missing"])[
        "MetricAlarms"
    ]
    groups = aws.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    assert dimension_of(alarm) in [each["AutoScalingGroupName"] for each in groups]


def test_status_without_permissions_says_what_is_not_known(
    as_role: Callable[[str], Run], trainshed: Run
) -> None:
    as_role("Stranger")

    found = trainshed("status", "kube.yaml")

    assert found.out.count("\nwrong ") == 1
    assert "not known  the credentials may not call eks:DescribeNodegroup in us-west-2" in found.out
    assert "not known  the credentials may not call ec2:DescribeInstances in us-west-2" in found.out
    assert "\nnodes" not in found.out
    assert "\ncost" not in found.out


def test_what_eks_says_of_missing_nodes_is_quoted(
    aws: EmbeddedAws, as_role: Callable[[str], Run]
) -> None:
    kube = as_role("Owner")
    kube("apply", "kube.yaml")
    groups = aws.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    [last] = [
        each["Instances"][-1] for each in groups if "KubeCluster" in each["AutoScalingGroupName"]
    ]
    none = "We currently do not have sufficient capacity in the Availability Zone you requested."
    fault = Fault(
        service="ec2",
        operation="RunInstances",
        code="InsufficientInstanceCapacity",
        message=none,
        count=None,
    )
    aws.fail(fault)
    aws.client("ec2").terminate_instances(InstanceIds=[last["InstanceId"]])

    until(lambda: "nodes is 1, planned is 2" in kube("nodes", "kube.yaml").out)
    quoted, in_json = kube("nodes", "kube.yaml"), kube("nodes", "kube.yaml", "--json")
    refused = as_role("Operator")("nodes", "kube.yaml")
    aws.fail()

    said = f"AsgInstanceLaunchFailures: Could not launch On-Demand Instances. {fault.code} - {none}"
    assert f"EKS says of the node group: {said}" in quoted.out
    [issue] = in_json.json["node_group_issues"]
    assert (quoted.code, issue["code"]) == (1, "AsgInstanceLaunchFailures")
    assert "nodes is 1, planned is 2" in refused.out
    assert "the node group is not looked at: " in refused.err
    assert "eks:DescribeNodegroup" in refused.err
    # For the other tests.
    until(lambda: len(as_role("Operator")("nodes", "kube.yaml", "--json").json["nodes"]) == 2)


def test_a_role_without_an_access_entry_is_told_what_to_do(
    as_role: Callable[[str], Run],
) -> None:
    answer = as_role("Stranger")("apply", "kube.yaml")

    assert answer.code == 1
    assert "no access entry names their role; add it to kubernetes.access" in answer.err


def test_who_may_edit_submits_jobs_once_jobset_is_installed(
    as_role: Callable[[str], Run],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = partial(runner("trainshed", main, capsys, monkeypatch), "job")
    as_role("Operator")("apply", "kube.yaml")
    as_role("Trainer")

    submitted, listed = job("submit", "kube.yaml", "--", "true"), job("list", "kube.yaml")
    watched = job("watch", "train", "--region", "us-west-2")

    assert submitted.code == 1
    assert "kube has no JobSet, which runs the jobs" in submitted.err
    assert "KubeCluster has no jobs" in listed.out
    assert "no job has the id or the name 'train'" in watched.err


def test_nodes_of_several_types_are_as_planned(
    aws: EmbeddedAws,
    as_role: Callable[[str], Run],
    synthesise: Callable[..., Path],
    publish_ami: Callable[..., str],
    tmp_path: Path,
) -> None:
    types = ["g7e.8xlarge", "g6.8xlarge"]
    several = (
        CLUSTER.replace("KubeCluster", "ManyCluster")
        .replace("trn1.32xlarge", types[0])
        .replace("  access:", "  name: kube\n  access:")
    )
    (tmp_path / "many.yaml").write_text(
        f"{several}network: {{name: kube}}\ncapacity: {{instance_types: [{', '.join(types)}]}}\n"
    )
    folder = synthesise(load_fleet([tmp_path / "kube.yaml", tmp_path / "many.yaml"]))
    publish_ami(aws, "nvidia/eks-1.35")
    aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            count=1,
            when={"InstanceType": types[0]},
        )
    )
    template = json.loads((folder / "ManyCluster.template.json").read_text())
    aws.deploy(template, stack_name="ManyCluster")
    kube = as_role("Owner")

    applied = kube("apply", "many.yaml", "--wait-minutes", "2")
    nodes = kube("nodes", "many.yaml", "--json")

    assert applied.code == 0, applied.err
    found = {each["instance_type"]: each["capacity"] for each in nodes.json["nodes"]}
    assert sorted(found) == sorted(types)
    # The kubelet counts the addresses of its own type, and the pod asks for the least memory.
    assert found[types[0]]["pods"] != found[types[1]]["pods"]
    assert found[types[0]]["memory"] != found[types[1]]["memory"]
    assert nodes.json["differences"] == []


def test_a_teardown_takes_a_cluster_out_of_a_control_plane_that_stays(
    aws: EmbeddedAws,
    as_role: Callable[[str], Run],
    synthesise: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = runner("trainshed", main, capsys, monkeypatch)
    teardown = partial(run, "teardown", "OtherCluster", "--clusters", "*.yaml")
    monkeypatch.setattr("trainshed.teardown.removal._PAUSE_SECONDS", 0.1)
    kube = as_role("Owner")
    kube("apply", "kube.yaml")
    shared = CLUSTER.replace("KubeCluster", "OtherCluster").replace(
        "  access:", "  name: kube\n  access:"
    )
    (tmp_path / "other.yaml").write_text(f"{shared}network: {{name: kube}}\n")
    folder = synthesise(load_fleet([tmp_path / "kube.yaml", tmp_path / "other.yaml"]))
    template = json.loads((folder / "OtherCluster.template.json").read_text())
    aws.deploy(template, stack_name="OtherCluster")
    applied = [each["name"] for each in kube("apply", "other.yaml", "--json").json]

    # The account's own credentials, which the API server does not know.
    with monkeypatch.context() as patch:
        aws.lead_here(patch)
        [unseen] = left(teardown("--dry-run", "--json"), "objects of Kubernetes")
    planned = teardown("--dry-run", "--json")
    done = teardown("--yes", "--json")
    again = teardown("--dry-run", "--json")

    assert "no access entry names their role" in unseen["why"]
    assert [each["name"] for each in planned.json["removed"]] == [
        "OtherCluster",
        *going(planned),
    ]
    assert sorted(going(planned)) == sorted(applied)
    assert planned.json == done.json
    assert "DaemonSet kube-system/trainshed-other-efa: deleted" in done.err
    assert again.json["removed"] == []
    # And nothing of the cluster that stays.
    assert {each["outcome"] for each in kube("apply", "kube.yaml", "--json").json} == {"unchanged"}


def left(answer: Answer, what: str) -> list[dict[str, str]]:
    return [each for each in answer.json["kept"] if each["what"] == what]


def going(answer: Answer) -> list[str]:
    return [
        each["name"] for each in answer.json["removed"] if each["what"] == "object of Kubernetes"
    ]


def test_kubectl_uses_the_cluster_by_the_kubeconfig(
    as_role: Callable[[str], Run], tmp_path: Path
) -> None:
    kube = as_role("Operator")
    kube("apply", "kube.yaml")

    assert kube("config", "kube.yaml", "--kubeconfig", "config").code == 0
    words = ["kubectl", "--kubeconfig", str(tmp_path / "config"), "get", "serviceaccounts"]
    # PYTHONPATH is no longer ours where kubectl runs us: the environment has what it needs.
    answer = subprocess.run(
        [*words, "--output", "name"], capture_output=True, text=True, env=dict(os.environ)
    )

    assert answer.returncode == 0, answer.stderr
    assert "serviceaccount/jobs" in answer.stdout.split()


def test_kubectl_agrees_with_what_we_say_of_user_nodes_and_objects(
    as_role: Callable[[str], Run], tmp_path: Path
) -> None:
    kube = as_role("Operator")
    kube("apply", "kube.yaml")
    kube("config", "kube.yaml", "--kubeconfig", "config")
    [plan] = load_fleet([tmp_path / "kube.yaml"]).clusters
    planned = part(plan.orchestrator, "kubernetes").planned_objects(plan)
    # The cluster has no Kueue, of which kubectl would know no kind.
    objects = tuple(each for each in cluster_objects(planned) if not isinstance(each, QueueObject))
    (tmp_path / "KubeCluster.yaml").write_text(manifest(objects))

    def kubectl(*words: str) -> str:
        answer = subprocess.run(
            ["kubectl", "--kubeconfig", str(tmp_path / "config"), *words],
            capture_output=True,
            text=True,
            env=dict(os.environ),
        )
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    user = json.loads(kubectl("auth", "whoami", "--output", "json"))["status"]["userInfo"]
    nodes = json.loads(kubectl("get", "nodes", "--output", "json"))["items"]
    ours = kube("nodes", "kube.yaml", "--json").json["nodes"]
    pods = kubectl("get", "pods", "--all-namespaces", "--output", "name")
    applied = kubectl(
        *("apply", "--server-side", "--dry-run=server", "--field-manager=trainshed"),
        *("--filename", str(tmp_path / "KubeCluster.yaml"), "--output", "json"),
    )

    assert ":assumed-role/Operator/" in user["username"]
    assert "trainshed:cluster-admin" in user["groups"]
    names = {each["metadata"]["name"] for each in nodes}
    assert {each["name"] for each in ours} <= names
    assert "trainshed-kube-efa" in pods
    assert len(json.loads(applied)["items"]) == len(objects)

"""Jobs on the embedded EKS, whose pods run: a cluster of four nodes for all of them."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import Answer, runner
from deployed_jobs import deploy_stacks
from eks_bench import until
from eks_operator import ROLE, be_role, make_operator
from frequent_looks import look_often
from job_bench import job_aws
from kube_bench import asked, credentials_of, token
from libraries import needs_libraries

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.hosts.network import namespaces_unavailable
from embedded_aws.job_settings import JobSettings
from embedded_aws.kubernetes.cache import unavailable
from trainshed.cli import main
from trainshed.plan import load_fleet

pytestmark = [pytest.mark.server, needs_libraries("torch")]

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "packer/files/opt/trainshed"
CLUSTER = """name: KubeCluster
region: us-west-2
orchestrator: eks
instance: {type: trn1.32xlarge, nodes: {max: 4}}
image: {uri: "registry.example/train:1"}
kubernetes: {access: [{role: Operator, policy: cluster-admin}]}
"""
STACKS = ("KubeNetwork", "KubeControlPlane", "KubeCluster")
Run = Callable[..., Answer]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "kube.yaml").write_text(CLUSTER)
    return folder


@pytest.fixture(scope="module")
def aws(
    project: Path,
    tmp_path_factory: pytest.TempPathFactory,
    synthesise: Callable[..., Path],
    publish_ami: Callable[..., str],
) -> Iterator[EmbeddedAws]:
    """One that has the cluster with its nodes."""
    if reason := unavailable() or namespaces_unavailable():
        pytest.skip(reason)
    assembly = synthesise(load_fleet([project / "kube.yaml"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join([str(PROGRAMS), os.environ["PATH"]]))
        settings = JobSettings(speed=300)
        with job_aws(tmp_path_factory.mktemp("aws"), settings, kubernetes=True) as found:
            publish_ami(found, "neuron/eks-1.35")
            make_operator(found)
            deploy_stacks(found, assembly, *STACKS)
            yield found


@pytest.fixture
def trainshed(
    aws: EmbeddedAws,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    look_often(monkeypatch)
    run = runner("trainshed", main, capsys, monkeypatch)
    be_role(aws, ROLE, monkeypatch)
    monkeypatch.chdir(project)
    for command in (("kube", "lock", "kube.yaml"), ("kube", "apply", "kube.yaml")):
        done = run(*command)
        assert done.code == 0, done.err
    return run


def run_job(trainshed: Run, *words: str) -> str:
    """Run a job to its end, and return its id."""
    submitted = trainshed("job", "submit", "kube.yaml", "--env", "OMP_NUM_THREADS=1", "--", *words)
    assert submitted.code == 0, submitted.err
    job_id = submitted.out.strip()
    watched = trainshed("job", "watch", job_id)
    assert watched.code == 0, watched.out + watched.err
    return job_id


def test_torchrun_adds_up_over_four_nodes(trainshed: Run) -> None:
    job_id = run_job(trainshed, "torchrun", str(ROOT / "examples/all_reduce_torch.py"))

    for node in range(4):
        printed = trainshed("job", "logs", job_id, "--node", str(node)).out
        [rank] = re.findall(r"rank (\d) of 4 on \S+: sum 6\n", printed)
        assert rank == str(node)


def test_mpi_adds_up_over_four_nodes(trainshed: Run) -> None:
    job_id = run_job(trainshed, "mpirun", "python", str(ROOT / "examples/all_reduce.py"))

    printed = trainshed("job", "logs", job_id).out
    assert sorted(re.findall(r"rank (\d) of 4 on \S+: sum 6\n", printed)) == list("0123")


def test_a_namespace_can_be_deleted_where_kueue_runs(aws: EmbeddedAws, trainshed: Run) -> None:
    """Not while an API server like Kueue's does not answer the one of the cluster."""
    cluster = aws.client("eks").describe_cluster(name="kube")["cluster"]
    bearer = token(aws, "kube", credentials_of(aws, ROLE))
    path = "/api/v1/namespaces/short"
    made, _ = asked(cluster, bearer, "POST", "/api/v1/namespaces", {"metadata": {"name": "short"}})
    assert made == 201

    asked(cluster, bearer, "DELETE", path)

    until(lambda: asked(cluster, bearer, "GET", path)[0] == 404)


def test_a_drained_node_gets_no_pods_until_it_is_taken_back(trainshed: Run) -> None:
    drained = json.loads(trainshed("node", "drain", "kube.yaml", "0", "--json").out)
    # One node each: they would take all four.
    asked = ("job", "submit", "kube.yaml", "--nodes", "3", "--", "sh", "-c", "hostname -I")
    job_id = trainshed(*asked).out.strip()
    watched = trainshed("job", "watch", job_id)
    back = trainshed("node", "undrain", "kube.yaml", drained["node"])

    assert drained["jobs"] == []
    assert watched.code == 0, watched.out + watched.err
    assert back.out.strip() == f"{drained['node']} takes jobs again"
    run_job(trainshed, "true")


def test_a_job_whose_node_is_replaced_by_force_starts_again(
    aws: EmbeddedAws, trainshed: Run
) -> None:
    script = 'if [ "$TRAINSHED_ATTEMPT" = 0 ]; then sleep 600; fi'
    job_id = trainshed("job", "submit", "kube.yaml", "--", "sh", "-c", script).out.strip()
    until(lambda: "Running" in trainshed("job", "list", "kube.yaml").out)

    done = trainshed("node", "replace", "kube.yaml", "0", "--force", "--yes", "--json")

    assert done.code == 0, done.err
    replaced = json.loads(done.out)
    assert replaced["jobs"] == [job_id]
    assert f"job {job_id} " in done.err
    assert "its pod gets SIGTERM, and all its nodes start again" in done.err
    assert replaced["replacement"] not in (None, replaced["node"])
    assert trainshed("job", "watch", job_id).code == 0


def test_a_node_is_rebooted(aws: EmbeddedAws, trainshed: Run) -> None:
    done = trainshed("node", "reboot", "kube.yaml", "0", "--yes")

    assert done.code == 0, done.err
    assert "has passed its checks, and takes jobs" in done.err
    run_job(trainshed, "true")


def test_all_start_again_when_a_node_ends(aws: EmbeddedAws, trainshed: Run) -> None:
    """Last: the pods of the first attempt wait, those of the second end."""
    script = 'if [ "$TRAINSHED_ATTEMPT" = 0 ]; then sleep 600; fi; echo attempt $TRAINSHED_ATTEMPT'
    submitted = trainshed("job", "submit", "kube.yaml", "--", "sh", "-c", script)
    assert submitted.code == 0, submitted.err
    job_id = submitted.out.strip()
    until(lambda: "Running" in trainshed("job", "list", "kube.yaml").out)
    instances = aws.client("ec2").describe_instances(
        Filters=[
            {"Name": "instance-type", "Values": ["trn1.32xlarge"]},
            {"Name": "instance-state-name", "Values": ["running"]},
        ]
    )["Reservations"]
    lost = instances[-1]["Instances"][0]["InstanceId"]

    aws.client("ec2").terminate_instances(InstanceIds=[lost])
    watched = trainshed("job", "watch", job_id)

    assert watched.code == 0, watched.out + watched.err
    assert trainshed("job", "logs", job_id).out.count("attempt 1") == 1

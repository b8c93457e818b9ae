"""`trainshed up` of a cluster of Amazon EKS, killed in each of its steps and started again."""

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from eks_operator import ROLE, make_operator
from job_bench import job_aws
from kube_bench import credentials_of

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.hosts.image_files import containers_unavailable
from embedded_aws.job_settings import JobSettings
from embedded_aws.kubernetes.cache import unavailable
from trainshed.rehearse.rehearsal import job_path

pytestmark = [pytest.mark.server, pytest.mark.synth]

ROOT = Path(__file__).parents[2]
CLUSTER = """name: TrainCluster
region: us-west-2
orchestrator: eks
instance: {type: trn1.32xlarge, nodes: {max: 2}}
kubernetes: {version: "1.35", access: [{role: Operator, policy: cluster-admin}]}
"""
# When a run is killed: its log has this of the command of a step.
WHILE = {
    "bootstrap": "Bootstrapping environment",
    "ami": "$ trainshed",
    "lock": "$ trainshed",
    "repository": "TrainContainers",
    "image": "$ trainshed",
    "stacks": "TrainControlPlane | ",
    "kubernetes": "created",
    "health": "health-",
}
_pause = threading.Event()


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """One without anything but a quota and a role for who operates the cluster."""
    if reason := unavailable() or containers_unavailable():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("aws")
    with job_path(), job_aws(folder, JobSettings(speed=300), kubernetes=True) as found:
        found.grant_quota("L-2C3B7624", 512)
        make_operator(found)
        yield found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    # As in the project that `trainshed init` writes.
    settings = {"app": f"python3 '{ROOT / 'app.py'}'", "versionReporting": False}
    (tmp_path / "cdk.json").write_text(json.dumps(settings))
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters/train.yaml").write_text(CLUSTER)
    return tmp_path


@pytest.fixture
def operator(aws: EmbeddedAws) -> dict[str, str]:
    """The environment of a session of the role."""
    given = credentials_of(aws, ROLE)
    return {
        **aws.environment,
        "AWS_ACCESS_KEY_ID": given.access_key,
        "AWS_SECRET_ACCESS_KEY": given.secret_key,
        "AWS_SESSION_TOKEN": given.token,
    }


def kill_in(step: str, text: str, project: Path, environment: dict[str, str]) -> None:
    """Start `trainshed up`, and kill it when the log of a step has a text."""
    log = project / f"build/up/TrainCluster/{step}.log"
    with subprocess.Popen(
        ["trainshed", "up", "train", "--yes"],
        cwd=project,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        while process.poll() is None and not (log.exists() and text in log.read_text()):
            _pause.wait(0.05)
        process.send_signal(signal.SIGKILL)
        assert process.stderr
        said = process.stderr.read().decode()
    # Not because something failed before.
    assert log.exists() and text in log.read_text() and "error:" not in said, said


def test_whatever_step_is_killed_another_run_ends_the_same(
    aws: EmbeddedAws, project: Path, operator: dict[str, str]
) -> None:
    for step, text in WHILE.items():
        kill_in(step, text, project, operator)

    done = subprocess.run(
        ["trainshed", "up", "train", "--yes"],
        cwd=project,
        env=operator,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "TrainCluster is up" in done.stderr
    plan = subprocess.run(
        ["trainshed", "up", "train", "--plan", "--json"],
        cwd=project,
        env=operator,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {each["state"] for each in json.loads(plan.stdout)} == {"done"}
    stacks = aws.client("cloudformation").describe_stacks()["Stacks"]
    assert {each["StackStatus"] for each in stacks} == {"CREATE_COMPLETE"}

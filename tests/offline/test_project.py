"""The project that `trainshed init` writes, used as its README and its workflow say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.synth, pytest.mark.server]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment() -> dict[str, str]:
    """That of a user with an active virtual environment, and without an AWS account."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    kept.pop("PYTHONPATH", None)
    kept |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    # No package is fetched: what is not there has to fail.
    kept |= {"NPM_CONFIG_OFFLINE": "true", "CDK_DISABLE_CLI_TELEMETRY": "true"}
    return kept | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def make(folder: Path, environment: dict[str, str], *options: str) -> None:
    subprocess.run(
        ["trainshed", "init", str(folder), *options],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    # Instead of `npm ci`, which needs a network.
    (folder / "node_modules").symlink_to(ROOT / "node_modules")


def shell(
    command: str, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-e", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_it_deploys_as_its_readme_says(tmp_path: Path, environment: dict[str, str]) -> None:
    make(tmp_path, environment, "--type", "trn1.32xlarge", "--region", "us-east-1")
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    [command] = re.findall(r"\$ (trainshed offline run [^']*'[^']*')\n", readme)

    done = shell(command, tmp_path, environment)

    said = done.stdout + done.stderr  # with CI set, the CDK CLI says on stdout what it says
    assert done.returncode == 0, said
    for stack in ("TrainPrerequisites", "TrainNetwork", "TrainContainers", "TrainCluster"):
        assert re.search(rf"✅  {stack}$", said, re.MULTILINE), said


def test_its_workflow_passes_after_a_change_of_region_and_type_with_a_cluster_of_eks_beside_it(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    make(
        *(tmp_path, environment, "--name", "GaudiCluster", "--type", "trn1.32xlarge"),
        *("--region", "us-west-2", "--storage"),
    )
    file = tmp_path / "clusters/gaudi.yaml"
    changed = file.read_text().replace("us-west-2", "us-east-1").replace("trn1.32x", "dl1.24x")
    file.write_text(changed)
    (tmp_path / "clusters/kube.yaml").write_text(
        "name: KubeCluster\nregion: us-east-1\norchestrator: eks\n"
        "instance: {type: trn1.32xlarge, nodes: {max: 2}}\n"
        "kubernetes:\n  access:\n"
        "    - {role: MachineLearning}\n"
        "    - {role: 'arn:aws:iam::123456789012:role/teams/Operator', policy: cluster-admin}\n"
    )
    workflow = yaml.safe_load((tmp_path / ".github/workflows/test.yml").read_text())
    steps = {
        step["name"]: step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step
    }
    del steps["Install"]

    for name, command in steps.items():
        done = shell(command, tmp_path, environment)
        assert done.returncode == 0, name + done.stdout + done.stderr

    assert list(steps) == ["Synthesise", "Test"]
    assert "1 passed" in done.stdout
    assert (tmp_path / "cdk.out/GaudiStorage.template.json").exists()

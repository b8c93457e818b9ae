"""The project that is rehearsed, whose app takes no seconds."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from rehearse_project import write_app

from trainshed.plan import Fleet, load_fleet

ROOT = Path(__file__).parents[2]
EKS_CLUSTER = """name: KubeCluster
region: us-west-2
orchestrator: eks
instance: {type: trn1.32xlarge, nodes: {max: 2}}
kubernetes: {version: "1.35", access: [{role: Operator, policy: cluster-admin}]}
"""


@pytest.fixture(scope="session")
def project(synthesise: Callable[[Fleet], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped clusters and examples, and an app that copies what `app.py` makes of them."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("clusters", "examples"):
        shutil.copytree(ROOT / name, folder / name)
    write_app(folder, synthesise(load_fleet(sorted((ROOT / "clusters").glob("*.yaml")))))
    return folder


@pytest.fixture
def eks_project(
    request: pytest.FixtureRequest,
    synthesise: Callable[[Fleet], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A project with a cluster of Amazon EKS alone, in which the test is.

    A parameter is more of the cluster file.
    """
    file = tmp_path / "clusters/kube.yaml"
    file.parent.mkdir()
    file.write_text(EKS_CLUSTER + getattr(request, "param", ""))
    write_app(tmp_path, synthesise(load_fleet([file])))
    monkeypatch.chdir(tmp_path)
    logs = tmp_path / "logs"
    logs.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(logs))
    return tmp_path

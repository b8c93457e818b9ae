"""The wheels, and an environment that has them and no checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels by distribution, each built from its sdist, as pip builds an sdist."""
    return {
        name: build_wheel(project, tmp_path_factory.mktemp(name))
        for name, project in (("trainshed", ROOT), ("embedded-aws", ROOT / "embedded-aws"))
    }


def build_wheel(project: Path, folder: Path) -> Path:
    hatchling = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run([*hatchling, "--target", "sdist"], cwd=project, check=True, capture_output=True)
    [sdist] = folder.glob("*.tar.gz")
    shutil.unpack_archive(sdist, folder)
    source = folder / sdist.name.removesuffix(".tar.gz")
    subprocess.run([*hatchling, "--target", "wheel"], cwd=source, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def environment(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheels, and with all that they need but no checkout.

    A .pth file adds the libraries of the environment that runs the tests; those .pth files by which
    that one finds the checkout are not read again from there.
    """
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", f"--python={folder}", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-index", *map(str, wheels.values())], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.fixture
def run(environment: Path, tmp_path: Path) -> Run:
    """Runs a command of the environment from an empty directory."""
    path = [str(environment / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    kept.pop("PYTHONPATH", None)

    def running(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=kept | {"PATH": os.pathsep.join(path)},
            capture_output=True,
            text=True,
        )

    return running

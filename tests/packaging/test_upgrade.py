"""`trainshed upgrade` in a user's project, from one wheel to another with other templates."""

import json
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from trainshed import __version__

pytestmark = pytest.mark.synth
ROOT = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]
# With these libraries of the environment that runs the tests pip has nothing to fetch.
OFFLINE = ("env", f"PYTHONPATH={sysconfig.get_path('purelib')}", "PIP_NO_INDEX=1")
OWN = f"ruff=={version('ruff')}  # ours"


def patch(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def newer(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of trainshed 9.0.0, whose Lustre has another version."""
    source, folder = (tmp_path_factory.mktemp(name) for name in ("source", "wheels"))
    [unpacked] = wheels["trainshed"].parent.glob("trainshed-*/")
    shutil.copytree(unpacked, source, dirs_exist_ok=True)
    (source / "PKG-INFO").unlink()  # it has the version of the source archive
    patch(source / "src/trainshed/__init__.py", f'"{__version__}"', '"9.0.0"')
    lustre = source / "constructs/trainshed_constructs/storage/lustre_file_system.py"
    patch(lustre, '_LUSTRE_VERSION = "2.15"', '_LUSTRE_VERSION = "2.12"')
    cdk = json.loads((source / "package.json").read_text())["devDependencies"]["aws-cdk"]
    patch(source / "package.json", f'"{cdk}"', '"2.9999.0"')
    build = ["-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run([sys.executable, *build], cwd=source, check=True, capture_output=True)
    return folder


def test_another_version_is_reviewed_and_nothing_is_changed(
    run: Run, newer: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache = f"XDG_CACHE_HOME={tmp_path_factory.mktemp('cache')}"
    options = ("--type", "trn1.32xlarge", "--region", "us-west-2", "--storage")
    assert run("trainshed", "init", ".", *options).returncode == 0
    with (tmp_path / "requirements.txt").open("a") as requirements:
        requirements.write(f"{OWN}\n")
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    done = run(*OFFLINE, cache, "trainshed", "upgrade", "--to", str(newer), "--format", "json")

    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert (found["base"], found["head"]) == (
        f"this project with trainshed {__version__}",
        "this project with trainshed 9.0.0",
    )
    changed = {
        (each["resource_type"], each["effect"], each["properties"][0]["path"])
        for stack in found["stacks"]
        for each in stack["resources"]
    }
    assert changed == {
        ("AWS::FSx::FileSystem", "replaced", "FileSystemTypeVersion"),
        ("Custom::ReplacementGuard", "changed", "FileSystem.FileSystemTypeVersion"),
        # Its value refers to the file system.
        ("AWS::SSM::Parameter", "changed", "Value"),
    }
    [data] = [risk for risk in found["risks"] if risk["kind"] == "data-loss"]
    assert data["resource"].startswith("Lustre/Pers")
    assert found["findings"]["new"] == []
    upgraded = tmp_path / "build/upgrade/requirements.txt"
    lines = upgraded.read_text().splitlines()
    assert {"trainshed[ami,charts,offline]==9.0.0", OWN} <= set(lines)
    assert f"trainshed[ami,charts,offline]=={__version__}" not in lines
    assert "\n  npm install --save-dev --save-exact aws-cdk@2.9999.0\n" in done.stderr
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {name: text for name, text in after.items() if name in before} == before
    assert {path for path in after if "__pycache__" not in path.parts} - set(before) == {upgraded}

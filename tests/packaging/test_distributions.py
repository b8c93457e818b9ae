"""The distributions: built as for an index, installed where no checkout is, and used from there."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from documented import examples

from trainshed import __version__

pytestmark = [pytest.mark.synth, pytest.mark.server]
ROOT = Path(__file__).parents[2]
TRAIN = "name: TrainCluster\nregion: us-west-2\ninstance: {type: trn1.32xlarge, nodes: {max: 2}}\n"
# Packages, in the wheel, by the folder that has them in a checkout.
TRAINSHED = {
    "src/trainshed": "trainshed",
    "constructs/trainshed_constructs": "trainshed_constructs",
    "stacks/trainshed_stacks": "trainshed_stacks",
    "packer": "trainshed/_shipped/packer",
    "containers": "trainshed/_shipped/containers",
    "examples/bert": "trainshed/_shipped/examples/bert",
}
FILES = (
    "action.yml",
    "cdk.json",
    "package.json",
    "package-lock.json",
    "requirements/dev.txt",
    "requirements/runtime.txt",
)
TRAINSHED |= {name: f"trainshed/_shipped/{name}" for name in FILES}
EMBEDDED_AWS = {"src/embedded_aws": "embedded_aws"}
Run = Callable[..., subprocess.CompletedProcess[str]]


def tracked(project: Path, places: dict[str, str]) -> dict[str, Path]:
    """What git has of a project, by the names in its wheel."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *places],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    found = {}
    for name in filter(lambda name: (project / name).exists(), listed):
        [place] = [each for each in places if name == each or name.startswith(f"{each}/")]
        found[places[place] + name.removeprefix(place)] = project / name
    return found


@pytest.mark.parametrize(
    ("name", "project", "places"),
    [
        pytest.param("trainshed", ROOT, TRAINSHED, id="trainshed"),
        pytest.param("embedded-aws", ROOT / "embedded-aws", EMBEDDED_AWS, id="embedded-aws"),
    ],
)
def test_a_wheel_has_every_file_of_the_checkout_and_nothing_else(
    wheels: dict[str, Path], name: str, project: Path, places: dict[str, str]
) -> None:
    expected = tracked(project, places)

    with zipfile.ZipFile(wheels[name]) as wheel:
        there = {each for each in wheel.namelist() if ".dist-info/" not in each}
        modes = {each.filename: each.external_attr >> 16 & 0o111 for each in wheel.infolist()}

    assert there == set(expected)
    assert {package.partition("/")[0] + "/py.typed" for package in there} <= there
    programs = {each for each, path in expected.items() if os.access(path, os.X_OK)}
    assert {each for each in there if modes[each]} == programs


def test_the_sources_are_those_of_the_wheel(run: Run, environment: Path) -> None:
    code = "import trainshed.app.sources as s; print(s.checkout(), s.packer_folder())"

    shown = run("python", "-c", code)

    [packages] = environment.glob("lib/python*/site-packages")
    assert shown.stdout.split() == ["None", str(packages / "trainshed/_shipped/packer")]


def test_a_ready_job_sends_the_program_that_the_wheel_has(run: Run) -> None:
    code = (
        "from trainshed.catalogue import lookup; from trainshed.ready_jobs import find_ready_job; "
        "job = find_ready_job('bert-340m', lookup('trn1.32xlarge')); "
        "print(*sorted(job.rehearsal('/tmp').files.names))"
    )

    sent = run("python", "-c", code).stdout.split()

    own = (path for path in (ROOT / "examples/bert").rglob("*") if path.suffix in (".py", ".md"))
    assert sent == sorted(str(path.relative_to(ROOT / "examples")) for path in own)


def test_the_commands_run_from_an_empty_directory(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(TRAIN)
    pinned = json.loads((ROOT / "packer/pins.json").read_text())["components"]

    version = run("trainshed", "--version")
    explained = run("trainshed", "explain", "train.yaml", "--json")
    pins = run("trainshed", "ami", "pins", "--json")
    types = run("embedded-aws", "types", "--json")

    assert version.stdout == f"trainshed {__version__}\n"
    assert json.loads(explained.stdout)["name"] == "TrainCluster", explained.stderr
    versions = {row["pin"]: row["version"] for row in json.loads(pins.stdout)}
    assert versions["efa-installer"] == pinned["efa-installer"]["version"]
    assert "AWS::Batch::ComputeEnvironment" in types.stdout


def test_packer_is_given_the_template_and_its_version(
    run: Run, environment: Path, tmp_path: Path
) -> None:
    packer = tmp_path / "packer-stand-in"
    packer.mkdir()
    (packer / "packer").write_text("#!/bin/sh\necho Packer v1.11.0\n")
    (packer / "packer").chmod(0o755)
    # Somebody's own repository, whose commit is not that of the template.
    git = ["git", "-C", str(environment), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "Theirs"], check=True)

    shown = run(
        *("env", f"PATH={packer}:{environment}/bin:/usr/bin:/bin", "AWS_REGION=us-west-2"),
        *("trainshed", "ami", "build", "neuron", "ecs", "--dry-run", "--var", "subnet_id=subnet-1"),
    )

    assert shown.returncode == 0, shown.stderr
    assert f"-var=commit=trainshed-{__version__}" in shown.stdout
    assert shown.stdout.rstrip().endswith("/trainshed/_shipped/packer")


def documented_commands(checkout: Path) -> list[str]:
    """Those of docs/your-project.md from the wheels to a project, without what npm does."""
    page = [each.command for each in examples() if each.page == "docs/your-project.md"]
    first, last = page.index("make dist") + 1, page.index("pytest")
    return [
        command.replace("CHECKOUT", f"'{checkout}'").removesuffix(" && npm ci")
        for command in page[first:last]
    ]


def test_the_documented_commands_lead_from_the_wheels_to_a_project(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    checkout, folder = tmp_path / "a checkout", tmp_path / "my-training"
    (checkout / "dist").mkdir(parents=True)
    for wheel in wheels.values():
        shutil.copy(wheel, checkout / "dist")
    (checkout / "requirements").mkdir()
    shutil.copy(ROOT / "requirements/runtime.txt", checkout / "requirements")
    *install_ours, install_others, init, install_tests = documented_commands(checkout)
    # With these libraries pip has nothing to fetch. They have the checkout's trainshed too.
    libraries = f"export PIP_NO_INDEX=1 PYTHONPATH='{sysconfig.get_path('purelib')}'"
    script = [*install_ours, libraries, install_others, init, install_tests, "which trainshed"]

    done = subprocess.run(
        ["bash", "-ec", "\n".join([*script, "trainshed --version"])],
        cwd=tmp_path,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    shown = [f"{folder}/.venv/bin/trainshed", f"trainshed {__version__}"]
    assert done.stdout.splitlines()[-2:] == shown
    # What is done already is no next step.
    assert done.stderr.split("next:\n")[1].splitlines() == [
        "  pip install -r requirements.txt && npm ci",
        "  pytest      # deploys the cluster to an AWS on this machine",
    ]
    assert {"app.py", "clusters", "wheels"} <= {path.name for path in folder.iterdir()}

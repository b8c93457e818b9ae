"""The files that GitHub and PyPI read agree with the code."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
NEW_PROJECT = sorted(ROOT.glob("src/**/dot-github/workflows/*.yml"))
PYTHON = "Programming Language :: Python :: "
# The targets of the Makefile, and what each needs.
NEEDS = {
    target: needs.split()
    for target, needs in re.findall(
        r"^([a-z-]+):([^#=\n]*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M
    )
}


def read(path: str) -> Any:
    return YAML(typ="safe").load((ROOT / path).read_text(encoding="utf-8"))


def projects() -> dict[str, dict[str, Any]]:
    root = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = [".", *root["tool"]["uv"]["workspace"]["members"]]
    return {
        folder: tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))[
            "project"
        ]
        for folder in folders
    }


def versions(project: dict[str, Any]) -> list[str]:
    named = [each.removeprefix(PYTHON) for each in project["classifiers"]]
    return [each for each in named if re.fullmatch(r"3\.\d+", each)]


@pytest.mark.parametrize("folder", projects())
def test_tests_run_on_every_python_that_a_distribution_names(folder: str) -> None:
    project = projects()[folder]

    tested = read(".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]

    assert tested["python-version"] == versions(project)
    assert project["requires-python"] == f">={versions(project)[0]}"


@pytest.mark.parametrize("folder", projects())
def test_every_distribution_says_its_license_and_brings_its_text(folder: str) -> None:
    project = projects()[folder]

    assert project["license"] == "Apache-2.0"
    assert project["license-files"] == ["LICENSE"]
    assert (ROOT / folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_a_tag_of_every_distribution_starts_the_release() -> None:
    tags = read(".github/workflows/release.yml")["on"]["push"]["tags"]

    assert sorted(tags) == sorted(f"{project['name']}-v*" for project in projects().values())


def test_the_release_waits_for_the_tests_and_only_publishing_may_prove_who_it_is() -> None:
    jobs = read(".github/workflows/release.yml")["jobs"]

    assert jobs["build"]["needs"] == "test"
    assert all(
        f"'pypi-{project['name']}'" in jobs["publish"]["environment"]["name"]
        for project in projects().values()
    )
    assert {name for name, job in jobs.items() if "id-token" in job["permissions"]} == {
        "attest",
        "publish",
    }


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_grants_nothing_to_all_its_jobs(path: Path) -> None:
    workflow = read(str(path.relative_to(ROOT)))

    assert workflow["permissions"] == {}
    assert all("permissions" in job for job in workflow["jobs"].values())


def commands(workflow: dict[str, Any]) -> list[str]:
    steps = [step for job in workflow["jobs"].values() for step in job.get("steps", [])]
    return [step["run"] for step in steps if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_runs_exists(path: Path) -> None:
    run = "\n".join(commands(read(str(path.relative_to(ROOT)))))

    assert run
    assert set(re.findall(r"^make ([a-z-]+)", run, re.M)) <= NEEDS.keys()
    assert [each for each in re.findall(r"scripts/\S+", run) if not (ROOT / each).is_file()] == []


def made(script: str) -> set[str]:
    """Return the targets that a script makes, with those that they need."""
    words = " ".join(re.findall(r"^\s*make (.*)", script, re.M)).split()
    found = {word for word in words if word in NEEDS}
    while more := {need for target in found for need in NEEDS[target]} & NEEDS.keys() - found:
        found |= more
    return found


def test_the_workflows_run_all_that_the_gate_runs() -> None:
    run = "\n".join(
        line for path in WORKFLOWS for line in commands(read(f".github/workflows/{path.name}"))
    )
    gate = made((ROOT / ".ci/run").read_text(encoding="utf-8"))

    assert {"test-bare", "test-skipped", "lint", "docs", "upper-ladder"} <= gate
    assert gate <= made(run)


def test_every_path_with_an_owner_exists() -> None:
    lines = (ROOT / ".github/CODEOWNERS").read_text(encoding="utf-8").splitlines()
    paths = [line.split()[0] for line in lines if line and not line.startswith("#")]

    missing = [path for path in paths if path != "*" and not (ROOT / path.strip("/")).exists()]

    assert paths
    assert missing == []


def test_dependabot_looks_at_every_manifest() -> None:
    watched = {
        each["package-ecosystem"]: each.get("directories", [each.get("directory")])
        for each in read(".github/dependabot.yml")["updates"]
    }

    assert watched["pip"] == [f"/{folder}".removesuffix(".") for folder in projects()]
    assert all((ROOT / each.strip("/") / "package.json").is_file() for each in watched["npm"])
    assert [*map(str, ROOT.glob("src/**/dot-github/workflows"))] == [
        f"{ROOT}{each}" for each in watched["github-actions"] if each != "/"
    ]


def actions(path: Path) -> dict[str, str]:
    return dict(re.findall(r"uses: (\S+)@(.+)$", path.read_text(encoding="utf-8"), re.M))


@pytest.mark.parametrize("path", [*NEW_PROJECT, ROOT / "action.yml"], ids=lambda path: path.name)
def test_what_others_run_has_our_versions_of_the_actions(path: Path) -> None:
    ours = {name: pin for path in WORKFLOWS for name, pin in actions(path).items()}

    pinned = actions(path)

    assert pinned
    assert {name: ours.get(name) for name in pinned} == pinned


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_every_make_target_that_contributors_are_given_exists() -> None:
    named = {
        target
        for code in re.findall(r"(?:`|\$ )make ([a-z -]+)", CONTRIBUTING)
        for target in code.split()
    }

    assert {"setup", "test", "lint", "docs"} <= named
    assert named <= NEEDS.keys()


def test_every_path_that_contributors_are_given_exists() -> None:
    words = [word for span in re.findall(r"`([^`\n]+)`", CONTRIBUTING) for word in span.split()]
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"build"}

    named = {word for word in words if "/" in word and word.split("/")[0] in folders}
    missing = [path for path in sorted(named) if not (ROOT / path.replace("NAME", "sqs")).exists()]

    assert {"packer/pins.json", "tests/template/test_docstring_examples.py"} <= named
    assert missing == []

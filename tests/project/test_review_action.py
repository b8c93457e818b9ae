"""The review in GitHub Actions and GitLab CI: who gets the token, and what the steps run."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from git_hosts import Account, GitHub, GitLab, serving
from reviewed_project import APP, CLUSTER, commit_all, git, write_project
from ruamel.yaml import YAML

from trainshed.comment.report import MARKER
from trainshed.review.fail_on import parse_fail_on
from trainshed.review.model import RiskKind

ROOT = Path(__file__).parents[2]
NEW_PROJECT = ROOT / "src/trainshed/project/template/dot-github/workflows"
TOKEN = "secret"
REPORT = f"{MARKER}\n# Review\n"
# As GitHub's documents say of `shell: bash`, and GitLab's of a script.
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


ACTION = read(ROOT / "action.yml")
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
JOBS = read(ROOT / "ci/gitlab-review.yml")
REVIEW_YML, TEST_YML = read(NEW_PROJECT / "review.yml"), read(NEW_PROJECT / "test.yml")


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHub]:
    host = GitHub({TOKEN: Account(login="github-actions[bot]")})
    with serving(host):
        yield host


@pytest.fixture
def gitlab() -> Iterator[GitLab]:
    host = GitLab({TOKEN: Account(login="project_42_bot")})
    with serving(host):
        yield host


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with a `trainshed review` that only notes what it is asked, and our `comment`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "trainshed"
    # The review itself is tested where it can run; here it is what CI asks of it that counts.
    program.write_text(
        f"""#!/usr/bin/env bash
set -eu
[ "$1" != comment ] || exec python -m trainshed.cli "$@"
env >>{tmp_path}/environment
printf '%s\\n' "$*" >>{tmp_path}/asked
while [ $# -gt 1 ]; do
  case $1 in
    --output) printf '%s' '{REPORT}' >"$2" ;;
    --fail-on) exit 1 ;;
  esac
  shift
done
"""
    )
    program.chmod(0o755)
    return folder


def github_environment(host: GitHub, folder: Path, programs: Path) -> dict[str, str]:
    """What a runner gives every step of a pull request's job."""
    event = {"pull_request": {"number": 7, "head": {"repo": {"full_name": "us/training"}}}}
    (folder / "event.json").write_text(json.dumps(event))
    return {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(folder),
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": host.root,
        "GITHUB_GRAPHQL_URL": f"{host.root}/graphql",
        "GITHUB_REPOSITORY": "us/training",
        "GITHUB_BASE_REF": "main",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "RUNNER_TEMP": str(folder),
    }


def step(
    name: str, folder: Path, environment: Mapping[str, str], inputs: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a step of the action, with its expressions filled in."""
    output = folder / "output"
    lines = output.read_text().splitlines() if output.exists() else []
    values = {
        "github.token": TOKEN,
        **{f"inputs.{key}": each["default"] for key, each in ACTION["inputs"].items()},
        **{f"inputs.{key}": text for key, text in inputs.items()},
        **{f"steps.review.outputs.{line.split('=')[0]}": line.split("=")[1] for line in lines},
    }

    def fill_in(text: str) -> str:
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: values.get(found[1], ""), text)

    given = {key: fill_in(text) for key, text in STEPS[name].get("env", {}).items()}
    return subprocess.run(
        [*BASH, STEPS[name]["run"]],
        cwd=folder / fill_in(STEPS[name].get("working-directory", ".")),
        env={**environment, **given},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone as a runner has it: of a branch that takes two nodes more than `origin/main`."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    origin = tmp_path / "origin"
    write_project(origin, APP)
    monkeypatch.chdir(origin)
    git("init", "--quiet", "--initial-branch=main")
    commit_all()
    git("clone", "--quiet", str(origin), str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    write_project(tmp_path / "clone", APP, CLUSTER.replace("max: 4", "max: 6"))
    commit_all()
    return tmp_path / "clone"


def review_environment(folder: Path) -> dict[str, str]:
    """What a runner has beside its own variables: git without settings, and Python."""
    return {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "APP_RUNS": str(folder / "runs"),
    }


def test_the_action_reviews_a_change_and_posts_what_it_finds(
    github: GitHub, tmp_path: Path, programs: Path, change: Path
) -> None:
    environment = github_environment(github, tmp_path, programs) | review_environment(tmp_path)
    inputs = {"working-directory": "clone", "fail-on": "cost>10%"}

    review = step("Review", tmp_path, environment, inputs)
    comment = step("Comment", tmp_path, environment, inputs)

    assert (review.returncode, comment.returncode) == (1, 0), review.stderr + comment.stderr
    assert "--fail-on cost>10%: " in review.stderr
    [note] = github.notes
    assert note.body.startswith(MARKER)
    assert "`VisibilityTimeout`: `4` → `6`" in note.body
    assert (tmp_path / "summary.md").read_text() == f"{note.body}\n"


def test_the_jobs_of_gitlab_review_a_change_and_post_what_they_find(
    gitlab: GitLab, tmp_path: Path, programs: Path, change: Path
) -> None:
    environment = gitlab_environment(gitlab, tmp_path, programs) | review_environment(tmp_path)
    base = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": git("rev-parse", "origin/main")}

    review = gitlab_job("trainshed-review", change, environment | base)
    comment = gitlab_job(
        "trainshed-comment", change, environment | {"TRAINSHED_GITLAB_TOKEN": TOKEN}
    )

    assert (review.returncode, comment.returncode) == (0, 0), review.stderr + comment.stderr
    [note] = gitlab.notes
    assert "`VisibilityTimeout`: `4` → `6`" in note.body


def test_the_action_asks_for_both_reports_at_once(
    github: GitHub, tmp_path: Path, programs: Path
) -> None:
    environment = github_environment(github, tmp_path, programs)

    review = step("Review", tmp_path, environment, {})

    assert review.returncode == 0, review.stderr
    folder = (tmp_path / "output").read_text().strip().removeprefix("folder=")
    assert names(Path(folder)) == ["review.html", "review.md"]
    assert (tmp_path / "asked").read_text().splitlines() == [
        f"review --base origin/main --output {folder}/review.html --output {folder}/review.md"
    ]


def test_a_threshold_fails_the_review_and_the_report_is_posted_all_the_same(
    github: GitHub, tmp_path: Path, programs: Path
) -> None:
    environment = github_environment(github, tmp_path, programs)
    (tmp_path / "project").mkdir()
    inputs = {
        "base": "origin/stable",
        "fail-on": "high,cost>10%",
        "working-directory": "project",
    }

    review = step("Review", tmp_path, environment, inputs)
    comment = step("Comment", tmp_path, environment, inputs)

    assert (review.returncode, comment.returncode) == (1, 0)
    assert [note.body for note in github.notes] == [REPORT]
    asked = (tmp_path / "asked").read_text()
    assert "--base origin/stable" in asked and asked.endswith("--fail-on high,cost>10%\n")
    assert f"PWD={tmp_path}/project\n" in (tmp_path / "environment").read_text()


@pytest.mark.parametrize("text", ["$(touch broken)", '"; touch broken; "', "`touch broken`"])
def test_an_input_runs_nothing(github: GitHub, tmp_path: Path, programs: Path, text: str) -> None:
    environment = github_environment(github, tmp_path, programs)

    step("Review", tmp_path, environment, {"base": text, "fail-on": text})

    assert text in (tmp_path / "asked").read_text()
    assert not (tmp_path / "broken").exists()


def test_without_a_report_nothing_is_posted(github: GitHub, tmp_path: Path, programs: Path) -> None:
    environment = github_environment(github, tmp_path, programs)

    comment = step("Comment", tmp_path, environment, {})

    assert comment.returncode == 0
    assert "there is no report to post" in comment.stdout
    assert github.asked == []


def test_only_the_step_that_posts_has_the_token(
    github: GitHub, tmp_path: Path, programs: Path
) -> None:
    step("Review", tmp_path, github_environment(github, tmp_path, programs), {})

    assert TOKEN not in (tmp_path / "environment").read_text()
    assert [name for name, each in STEPS.items() if "github.token" in str(each)] == ["Comment"]
    assert "secrets." not in str(ACTION)


def test_no_script_of_the_action_has_an_expression() -> None:
    scripts = [each["run"] for each in STEPS.values() if "run" in each]

    assert len(scripts) == 2
    assert [script for script in scripts if "${{" in script] == []


def test_what_follows_the_review_runs_also_when_it_fails() -> None:
    after = [name for name in STEPS if name != "Review"]

    assert after == ["Keep the page", "Comment"]
    assert {STEPS[name]["if"] for name in after} == {"${{ !cancelled() }}"}


def test_the_workflow_of_a_new_project_may_comment_and_nothing_else() -> None:
    [job] = REVIEW_YML["jobs"].values()

    # YAML 1.2: `on` is a text.
    assert list(REVIEW_YML["on"]) == ["pull_request"]
    assert REVIEW_YML["permissions"] == {}
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "env" not in job and "env" not in REVIEW_YML


def test_the_workflow_of_a_new_project_has_what_the_action_needs() -> None:
    [job], [tests] = REVIEW_YML["jobs"].values(), TEST_YML["jobs"].values()
    checkout, *_, install, action = job["steps"]

    assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}
    assert install["run"] == next(each for each in tests["steps"] if "run" in each)["run"]
    assert action["uses"] == "./.github/actions/review"
    assert set(action["with"]) <= set(ACTION["inputs"])
    assert parse_fail_on(action["with"]["fail-on"]).items


def gitlab_job(
    name: str, folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run the script of a job of GitLab, all lines in one shell."""
    return subprocess.run(
        [*BASH, "\n".join(JOBS[name]["script"])],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


def gitlab_environment(host: GitLab, folder: Path, programs: Path) -> dict[str, str]:
    """What a runner gives every job of a merge request's pipeline."""
    return {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(folder),
        "GITLAB_CI": "true",
        "CI_API_V4_URL": host.root,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "1a2b3c4",
        "CI_MERGE_REQUEST_PROJECT_ID": "42",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_PROJECT_URL": "https://gitlab.com/us/training",
    }


@pytest.mark.parametrize("fail_on", ["", "high,cost>10%"])
def test_the_jobs_of_gitlab_review_and_post_the_report(
    gitlab: GitLab, tmp_path: Path, programs: Path, fail_on: str
) -> None:
    environment = gitlab_environment(gitlab, tmp_path, programs)
    project = tmp_path / "project"
    project.mkdir()

    review = gitlab_job("trainshed-review", project, environment | {"TRAINSHED_FAIL_ON": fail_on})
    comment = gitlab_job(
        "trainshed-comment", project, environment | {"TRAINSHED_GITLAB_TOKEN": TOKEN}
    )

    assert (review.returncode, comment.returncode) == (int(bool(fail_on)), 0), comment.stderr
    assert [note.body for note in gitlab.notes] == [REPORT]
    assert names(project / "trainshed-review") == ["review.html", "review.md"]
    [asked] = (tmp_path / "asked").read_text().splitlines()
    assert asked.split(" --output")[0] == "review --base 1a2b3c4"
    assert asked.endswith(f"--fail-on {fail_on}") == bool(fail_on)


def test_without_a_report_gitlab_gets_none(gitlab: GitLab, tmp_path: Path, programs: Path) -> None:
    environment = gitlab_environment(gitlab, tmp_path, programs)

    comment = gitlab_job("trainshed-comment", tmp_path, environment)

    assert comment.returncode == 0
    assert "there is no report to post" in comment.stdout
    assert gitlab.asked == []


def test_the_job_of_gitlab_that_posts_is_another_one_with_an_environment() -> None:
    shared, review, comment = (
        JOBS[f"{dot}trainshed-{name}"]
        for dot, name in ((".", "review"), ("", "review"), ("", "comment"))
    )

    assert comment["environment"] == {"name": "trainshed-review", "action": "access"}
    assert "environment" not in review and "environment" not in shared
    assert comment["needs"] == ["trainshed-review"]
    assert review["artifacts"]["when"] == shared["rules"][0]["when"] == "always"
    assert review["variables"] == {"GIT_DEPTH": "0"}
    assert not [job for job in (shared, review, comment) if "cache" in job]


def snippets() -> list[str]:
    page = (ROOT / "docs/review.md").read_text(encoding="utf-8")
    return re.findall(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def test_the_guide_needs_five_lines_for_each_host() -> None:
    assert [len(text.splitlines()) for text in snippets()] == [5, 5]


def test_the_lines_of_the_guide_are_those_that_the_files_read() -> None:
    permissions, *steps = snippets()[0].splitlines()
    [action] = YAML(typ="safe").load("\n".join(steps))
    included = YAML(typ="safe").load(snippets()[1])
    [address] = (each["remote"] for each in included["include"])
    [variable] = included["variables"]

    [job] = REVIEW_YML["jobs"].values()
    assert YAML(typ="safe").load(permissions) == {"permissions": job["permissions"]}
    assert set(action["with"]) <= set(ACTION["inputs"])
    assert (ROOT / address.partition("/COMMIT/")[2]).is_file()
    assert f'--fail-on "${variable}"' in "\n".join(JOBS["trainshed-review"]["script"])
    for thresholds in (action["with"]["fail-on"], included["variables"][variable]):
        assert parse_fail_on(thresholds).items


def test_the_guide_names_every_input_and_every_threshold() -> None:
    page = (ROOT / "docs/review.md").read_text(encoding="utf-8")
    cells = {
        name
        for line in page.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([^`]+)`", line.split("|")[1])
    }

    assert set(ACTION["inputs"]) <= cells
    assert parse_fail_on(",".join(cells - set(ACTION["inputs"]))).items
    assert {kind.value for kind in RiskKind} | {"high", "medium", "findings"} <= cells

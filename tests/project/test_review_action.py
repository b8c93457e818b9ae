"""The review in GitHub Actions and GitLab CI: who gets the token, and what the jobs run."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from actions_runner import BASH, Runner
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


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


ACTION = read(ROOT / "action.yml")
ATTACK = """
# What a branch may do in a job that runs its code: to the steps after it, to its files, to git.
env >>"$LEAK"
mkdir -p evil
printf '#!/usr/bin/env bash\\nenv >>%s; exit 1\\n' "$LEAK" >evil/trainshed
chmod +x evil/trainshed
cp evil/trainshed wheels/evil.whl
echo "$PWD/evil" >>"${GITHUB_PATH:-/dev/null}"
printf 'env >>%s\\n' "$LEAK" >evil/start
echo "BASH_ENV=$PWD/evil/start" >>"${GITHUB_ENV:-/dev/null}"
"""
JOBS = read(ROOT / "ci/gitlab-review.yml")
REVIEW_YML, TEST_YML = read(NEW_PROJECT / "review.yml"), read(NEW_PROJECT / "test.yml")
REVIEW_JOB, COMMENT_JOB = REVIEW_YML["jobs"]["review"], REVIEW_YML["jobs"]["comment"]
STEPS = {
    step["name"]: step
    for step in (*ACTION["runs"]["steps"], *COMMENT_JOB["steps"])
    if "name" in step
}


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


@pytest.fixture(autouse=True)
def installers(tmp_path: Path) -> None:
    """Programs in place of pip and npm; what is installed runs, as a branch's packages do."""
    folder = tmp_path / "installers"
    folder.mkdir()
    (folder / "pip").write_text(
        "#!/usr/bin/env bash\n"
        'case "$*" in *wheels/*) for each in wheels/*; do bash "$each" || true; done ;; esac\n'
    )
    (folder / "npm").write_text("#!/usr/bin/env bash\n")
    for program in folder.iterdir():
        program.chmod(0o755)


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
[ ! -f app.sh ] || bash app.sh
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
        "PATH": f"{programs}:{folder}/installers:{os.environ['PATH']}",
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


def hand_over(folder: Path) -> None:
    """Bring the artifact of one job to the next."""
    kept = (folder / "output").read_text().strip().removeprefix("folder=")
    copytree(kept, folder / "report")


def review_environment(folder: Path) -> dict[str, str]:
    """What a runner has beside its own variables: git without settings, and Python."""
    return {
        "PATH": f"{folder}/installers:{os.environ['PATH']}",
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
    hand_over(tmp_path)
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
    comment = gitlab_comment(tmp_path, change, environment)

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
    hand_over(tmp_path)
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


def project(folder: Path, app: str = "") -> Path:
    """Write what the jobs need of a project; its app is a script."""
    (folder / ".github/actions/review").mkdir(parents=True, exist_ok=True)
    (folder / ".github/actions/review/action.yml").write_text((ROOT / "action.yml").read_text())
    (folder / "wheels").mkdir(exist_ok=True)
    (folder / "wheels/trainshed.whl").write_text("")
    if app:
        (folder / "app.sh").write_text(app)
    return folder


def run_workflow(host: GitHub, folder: Path, programs: Path, app: str) -> Runner:
    """Run both jobs of a new project for the pull request of a branch with this app."""
    environment = github_environment(host, folder, programs) | {"LEAK": str(folder / "leak")}
    runner = Runner(
        folder=folder / "runner",
        branches={"": project(folder / "branch", app), "main": project(folder / "main")},
        environment={name: environment[name] for name in environment if name != "GITHUB_OUTPUT"},
        values={"github.token": TOKEN, "github.event.repository.default_branch": "main"},
    )
    runner.folder.mkdir()
    for name in ("review", "comment"):
        runner.run(name, REVIEW_YML["jobs"][name])
    return runner


def test_the_code_of_a_branch_never_meets_the_token(
    github: GitHub, tmp_path: Path, programs: Path
) -> None:
    run_workflow(github, tmp_path, programs, ATTACK)

    # It ran.
    assert "GITHUB_ENV" in (tmp_path / "leak").read_text()
    assert TOKEN not in (tmp_path / "leak").read_text()
    assert TOKEN not in (tmp_path / "environment").read_text()
    assert [note.body for note in github.notes] == [REPORT]


def test_one_job_for_both_would_hand_the_token_over(
    github: GitHub, tmp_path: Path, programs: Path
) -> None:
    # What the two jobs are for: the runner of these tests does what GitHub's documents promise.
    environment = github_environment(github, tmp_path, programs) | {"LEAK": str(tmp_path / "leak")}
    del environment["GITHUB_OUTPUT"]
    runner = Runner(
        folder=tmp_path / "runner",
        branches={"": project(tmp_path / "branch", ATTACK)},
        environment=environment,
        values={"github.token": TOKEN},
    )
    runner.folder.mkdir()

    runner.run("both", {"steps": [*REVIEW_JOB["steps"], {**STEPS["Comment"], "if": "cancelled()"}]})

    assert TOKEN in (tmp_path / "leak").read_text()


def test_a_link_in_the_artifact_posts_nothing(
    github: GitHub, tmp_path: Path, programs: Path
) -> None:
    (tmp_path / "leak.secret").write_text(f"{MARKER}\nprivate\n")
    kept = tmp_path / "report"
    kept.mkdir()
    (kept / "review.md").symlink_to(tmp_path / "leak.secret")

    comment = step("Comment", tmp_path, github_environment(github, tmp_path, programs), {})

    assert comment.returncode == 2
    assert "review.md cannot be read: it is a link" in comment.stderr
    assert github.notes == []


def test_only_the_job_that_posts_has_a_token_that_writes() -> None:
    assert REVIEW_JOB["permissions"] == {"contents": "read"}
    assert COMMENT_JOB["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "github.token" not in str(ACTION) + str(REVIEW_JOB)
    assert "secrets." not in str(ACTION) + str(REVIEW_YML)
    with_token = [each for each in COMMENT_JOB["steps"] if "github.token" in str(each)]
    assert with_token == [STEPS["Comment"]]


def test_the_job_that_posts_checks_out_the_default_branch() -> None:
    [checkout] = [each for each in COMMENT_JOB["steps"] if "checkout" in each.get("uses", "")]

    assert checkout["with"] == {
        "ref": "${{ github.event.repository.default_branch }}",
        "persist-credentials": False,
    }
    assert COMMENT_JOB["needs"] == "review"
    assert COMMENT_JOB["if"] == "${{ !cancelled() }}"


def test_no_script_has_an_expression() -> None:
    scripts = [each["run"] for each in STEPS.values() if "run" in each]

    assert len(scripts) == 3
    assert [script for script in scripts if "${{" in script] == []


def test_the_report_is_kept_also_when_a_threshold_fails_the_review() -> None:
    assert list(STEPS)[:2] == ["Review", "Keep the report"]
    assert STEPS["Keep the report"]["if"] == "${{ !cancelled() }}"


def test_the_workflow_of_a_new_project_may_comment_and_nothing_else() -> None:
    # YAML 1.2: `on` is a text.
    assert list(REVIEW_YML["on"]) == ["pull_request"]
    assert REVIEW_YML["permissions"] == {}
    assert not [job for job in REVIEW_YML["jobs"].values() if "env" in job]
    assert "env" not in REVIEW_YML


def test_the_workflow_of_a_new_project_has_what_the_action_needs() -> None:
    [tests] = TEST_YML["jobs"].values()
    checkout, *_, install, action = REVIEW_JOB["steps"]

    assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}
    assert install["run"] == next(each for each in tests["steps"] if "run" in each)["run"]
    assert action["uses"] == "./.github/actions/review"
    assert set(action["with"]) <= set(ACTION["inputs"])
    assert parse_fail_on(action["with"]["fail-on"]).items


def gitlab_job(
    name: str, folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a job of GitLab, all lines of its scripts in one shell."""
    return subprocess.run(
        [*BASH, "\n".join((*JOBS[name]["before_script"], *JOBS[name]["script"]))],
        cwd=folder,
        env={**environment, "CI_PROJECT_DIR": str(folder)},
        capture_output=True,
        text=True,
    )


def gitlab_comment(
    folder: Path, branch: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run the job that posts, where nothing is but the artifact of the job in a branch.

    As a program of the branch may have made it: the app has the job's own token.
    """
    build = folder / "build"
    build.mkdir()
    for kept in ("trainshed-review", "wheels"):
        if (branch / kept).exists():
            copytree(branch / kept, build / kept, symlinks=True)
    return gitlab_job("trainshed-comment", build, {**environment, "TRAINSHED_GITLAB_TOKEN": TOKEN})


def default_branch(folder: Path) -> Path:
    """Make a repository whose default branch has a project."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all", "--force"],
        [*identity, "commit", "--quiet", "--message=x"],
    ):
        subprocess.run(["git", *words], cwd=project(folder), check=True)
    return folder


def gitlab_environment(host: GitLab, folder: Path, programs: Path) -> dict[str, str]:
    """What a runner gives every job of a merge request's pipeline."""
    return {
        "PATH": f"{programs}:{folder}/installers:{os.environ['PATH']}",
        "HOME": str(folder),
        "GITLAB_CI": "true",
        "CI_API_V4_URL": host.root,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "1a2b3c4",
        "CI_MERGE_REQUEST_PROJECT_ID": "42",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_PROJECT_URL": "https://gitlab.com/us/training",
        "CI_DEFAULT_BRANCH": "main",
        "CI_REPOSITORY_URL": str(folder / "origin"),
        "LEAK": str(folder / "leak"),
    }


@pytest.mark.parametrize("fail_on", ["", "high,cost>10%"])
def test_the_jobs_of_gitlab_review_and_post_the_report(
    gitlab: GitLab, tmp_path: Path, programs: Path, fail_on: str
) -> None:
    environment = gitlab_environment(gitlab, tmp_path, programs)
    default_branch(tmp_path / "origin")
    branch = project(tmp_path / "branch")

    review = gitlab_job("trainshed-review", branch, environment | {"TRAINSHED_FAIL_ON": fail_on})
    comment = gitlab_comment(tmp_path, branch, environment)

    assert (review.returncode, comment.returncode) == (int(bool(fail_on)), 0), comment.stderr
    assert [note.body for note in gitlab.notes] == [REPORT]
    assert names(branch / "trainshed-review") == ["review.html", "review.md"]
    [asked] = (tmp_path / "asked").read_text().splitlines()
    assert asked.split(" --output")[0] == "review --base 1a2b3c4"
    assert asked.endswith(f"--fail-on {fail_on}") == bool(fail_on)


def test_the_code_of_a_merge_request_never_meets_the_token(
    gitlab: GitLab, tmp_path: Path, programs: Path
) -> None:
    environment = gitlab_environment(gitlab, tmp_path, programs)
    default_branch(tmp_path / "origin")
    branch = project(tmp_path / "branch", ATTACK)

    gitlab_job("trainshed-review", branch, environment)
    # A package of the merge request, too.
    gitlab_job("trainshed-review", branch, environment)
    comment = gitlab_comment(tmp_path, branch, environment)

    assert comment.returncode == 0, comment.stderr
    assert (tmp_path / "build/wheels/evil.whl").exists()
    assert "GITLAB_CI" in (tmp_path / "leak").read_text()
    assert TOKEN not in (tmp_path / "leak").read_text()
    assert [note.body for note in gitlab.notes] == [REPORT]


@pytest.mark.parametrize("linked", ["trainshed-review", "trainshed-review/review.md"])
def test_a_link_in_the_artifact_of_gitlab_posts_nothing(
    gitlab: GitLab, tmp_path: Path, programs: Path, linked: str
) -> None:
    environment = gitlab_environment(gitlab, tmp_path, programs)
    default_branch(tmp_path / "origin")
    other = tmp_path / "other"
    other.mkdir()
    (other / "review.md").write_text(f"{MARKER}\nof a project that is private\n")
    branch = project(tmp_path / "branch")
    if linked.endswith(".md"):
        (branch / "trainshed-review").mkdir()
        (branch / linked).symlink_to(other / "review.md")
    else:
        (branch / "trainshed-review").symlink_to(other)
    build = tmp_path / "build"
    copytree(branch, build, symlinks=True)

    comment = gitlab_job(
        "trainshed-comment", build, environment | {"TRAINSHED_GITLAB_TOKEN": TOKEN}
    )

    assert comment.returncode == 2
    assert f"{linked} cannot be read: it is a link" in comment.stderr
    assert gitlab.notes == []


def test_without_a_report_gitlab_gets_none(gitlab: GitLab, tmp_path: Path, programs: Path) -> None:
    environment = gitlab_environment(gitlab, tmp_path, programs)
    default_branch(tmp_path / "origin")

    comment = gitlab_comment(tmp_path, project(tmp_path / "branch"), environment)

    assert comment.returncode == 0
    assert "there is no report to post" in comment.stdout
    assert gitlab.asked == []


def test_the_job_of_gitlab_that_posts_is_another_one_with_an_environment() -> None:
    review, comment = JOBS["trainshed-review"], JOBS["trainshed-comment"]

    assert comment["environment"] == {"name": "trainshed-review", "action": "access"}
    assert "environment" not in review
    assert comment["needs"] == ["trainshed-review"]
    # Nothing is checked out, and nothing of another job is left.
    assert comment["variables"] == {"GIT_STRATEGY": "empty"}
    # A fork's pipeline runs in the fork, which has no token.
    assert "CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID" in str(
        comment["rules"]
    )
    assert review["artifacts"]["when"] == "always"
    assert [job["rules"][0]["when"] for job in (review, comment)] == ["always", "always"]
    assert review["variables"] == {"GIT_DEPTH": "0"}
    assert not [job for job in (review, comment) if "cache" in job]


def snippets() -> list[str]:
    page = (ROOT / "docs/review.md").read_text(encoding="utf-8")
    return re.findall(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def test_the_lines_of_the_guide_are_those_that_the_files_read() -> None:
    github, gitlab = (YAML(typ="safe").load(text) for text in snippets())
    review, comment = (github["jobs"][name] for name in ("review", "comment"))
    [action] = review["steps"]
    [address] = (each["remote"] for each in gitlab["include"])
    [variable] = gitlab["variables"]

    assert review["permissions"] == REVIEW_JOB["permissions"]
    assert set(action["with"]) <= set(ACTION["inputs"])
    assert [comment[name] for name in ("needs", "if", "permissions")] == [
        COMMENT_JOB[name] for name in ("needs", "if", "permissions")
    ]
    fetched, posted = comment["steps"]
    assert fetched["with"] == COMMENT_JOB["steps"][-2]["with"]
    assert posted["env"] == STEPS["Comment"]["env"]
    assert posted["run"] in STEPS["Comment"]["run"]
    assert (ROOT / address.partition("/COMMIT/")[2]).is_file()
    assert f'--fail-on "${variable}"' in "\n".join(JOBS["trainshed-review"]["script"])
    for thresholds in (action["with"]["fail-on"], gitlab["variables"][variable]):
        assert parse_fail_on(thresholds).items


def test_the_guide_names_every_input_and_every_threshold() -> None:
    page = (ROOT / "docs/review.md").read_text(encoding="utf-8")
    cells = {
        name
        for line in page.splitlines()
        # Not the files of the table that the review is held against.
        if line.startswith("| `") and ".yaml` |" not in line
        for name in re.findall(r"`([^`]+)`", line.split("|")[1])
    }

    assert set(ACTION["inputs"]) <= cells
    assert parse_fail_on(",".join(cells - set(ACTION["inputs"]))).items
    assert {kind.value for kind in RiskKind} | {"high", "medium", "findings"} <= cells

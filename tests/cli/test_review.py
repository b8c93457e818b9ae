"""`trainshed review` in repositories of git: what it compares, remembers, refuses and leaves."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from app_here import synthesise_in_this_process
from command_line import Answer
from documented import examples
from reviewed_project import APP, CLUSTER, commit_all, git, write_project
from terminal import session

from trainshed import __version__
from trainshed.checks.templates import checking, checkov
from trainshed.checks.templates.program import Judge
from trainshed.cli import review as command
from trainshed.findings import Severity
from trainshed.findings.tools import State
from trainshed.review import reviewing
from trainshed.review.model import Effect, Review
from trainshed.review.reviewing import review_change

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "src" / "trainshed" / "project" / "template"
Trainshed = Callable[..., Answer]
# Follows the loop of APP over the cluster files, of which there is one.
KUBERNETES = """
(out / "kube").mkdir()
settings = ["apiVersion: v1", "kind: ConfigMap", "metadata: {name: settings, namespace: one}"]
settings.append(f"data: {{nodes: '{nodes}'}}")
(out / "kube" / f"{name}.yaml").write_text(chr(10).join(settings) + chr(10))
"""


def worktrees() -> int:
    """How many folders of the repository git knows."""
    return git("worktree", "list", "--porcelain").count("worktree ")


class Project:
    """A project in the working directory, whose branch is `change` and whose base is `main`."""

    def __init__(self, folder: Path, trainshed: Trainshed) -> None:
        self.folder, self._trainshed = folder, trainshed
        self.cache = folder.parent / "cache" / "trainshed" / "review"

    def write(self, cluster: str) -> None:
        (self.folder / "clusters" / "one.yaml").write_text(cluster)

    def review(self, *options: str) -> Answer:
        return self._trainshed("review", "--base", "main", *options)

    def result(self) -> Any:
        answer = self.review("--format", "json")
        assert answer.code == 0, answer.err
        return answer.json

    def timeouts(self) -> list[tuple[str | None, str | None]]:
        """What becomes of the queue's timeout."""
        return [
            (change["before"], change["after"])
            for stack in self.result()["stacks"]
            for resource in stack["resources"]
            for change in resource["properties"]
        ]

    @property
    def runs(self) -> list[str]:
        """Which sides the app was run for."""
        file = Path(os.environ["APP_RUNS"])
        return [Path(line).name for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trainshed: Trainshed, one_engine: None
) -> Project:
    """A project in git that one commit has, and a branch of it; no tool judges its templates."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("APP_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(reviewing, "PROGRAMS", ())
    folder = tmp_path / "project"
    write_project(folder, APP)
    monkeypatch.chdir(folder)
    git("init", "--quiet", "--initial-branch=main")
    commit_all()
    git("checkout", "--quiet", "-b", "change")
    return Project(folder, trainshed)


def test_uncommitted_changes_are_reviewed(project: Project) -> None:
    project.write(CLUSTER.replace("max: 4", "max: 5"))
    commit_all()
    project.write(CLUSTER.replace("max: 4", "max: 6"))

    assert project.timeouts() == [("4", "6")]


def test_the_documented_commands(project: Project, trainshed: Trainshed) -> None:
    git("update-ref", "refs/remotes/origin/main", "main")
    project.write(CLUSTER.replace("max: 4", "max: 5"))
    shown = [
        each.command
        for each in examples()
        if each.page == "docs/review.md" and each.command.startswith("trainshed review ")
    ]

    codes = {command: trainshed(*shlex.split(command)[1:]).code for command in shown}

    assert shown
    assert [command for command, code in codes.items() if code] == [shown[-1]]
    assert "cost>10%" in shown[-1]
    assert Path("review.html").read_text().startswith("<!doctype html>")


def test_what_came_to_the_base_since_is_not_shown_as_undone(project: Project) -> None:
    git("checkout", "--quiet", "main")
    project.write(CLUSTER.replace("max: 4", "max: 9"))
    commit_all()
    git("checkout", "--quiet", "change")

    assert project.timeouts() == []


def test_the_names_say_what_was_compared(project: Project) -> None:
    found = project.result()

    assert found["base"] == f"main ({git('rev-parse', 'main')[:7]})"
    assert found["head"] == "the working tree"
    assert found["broken_base"] is None


def test_progress_says_which_side_each_step_is_about(project: Project) -> None:
    base = f"main ({git('rev-parse', 'main')[:7]})"

    steps = [line.partition(" ")[2] for line in project.review().err.splitlines()]

    assert [step for step in steps if not step.startswith("synthesis")] == [
        "reading the working tree",
        f"reading the base, {base}",
        "judging the working tree",
        f"judging {base}",
    ]


def test_risks_clusters_and_quotas_compare_both_sides(project: Project) -> None:
    app = project.folder / "app.py"
    queue = '{"Queue": queue}'
    app.write_text(APP.replace(queue, '{"Bucket": {"Type": "AWS::S3::Bucket"}}'))
    commit_all()
    git("branch", "--force", "main")
    app.write_text(APP)
    project.write(CLUSTER.replace("max: 4", "max: 8"))

    found = project.result()

    assert found["broken_base"] is None
    assert [(risk["kind"], risk["resource"]) for risk in found["risks"]] == [
        ("data-loss", "Bucket")
    ]
    [cluster] = found["clusters"]
    assert {(fact["before"], fact["after"]) for fact in cluster["facts"]} >= {("0 to 4", "0 to 8")}
    [vcpus] = [quota for quota in found["quotas"] if quota["code"] == "L-2C3B7624"]
    assert (vcpus["before"], vcpus["after"]) == (4 * 128, 8 * 128)


def test_account_ids_of_a_template_are_left_out(project: Project) -> None:
    named = '"QueueName": f"of-123456789012-{nodes}", "VisibilityTimeout"'
    (project.folder / "app.py").write_text(APP.replace('"VisibilityTimeout"', named))

    answer = project.review()

    assert "of-ACCOUNT-4" in answer.out
    assert "123456789012" not in answer.out


def test_places_are_the_same_on_both_sides(project: Project) -> None:
    found = project.result()["findings"]

    assert (found["new"], found["fixed"]) == ([], [])
    assert found["still_open"] + found["still_accepted"] > 0


def test_a_base_is_synthesised_once(project: Project) -> None:
    project.result()
    project.write(CLUSTER.replace("max: 4", "max: 6"))
    assert project.timeouts() == [("4", "6")]

    assert sorted(project.runs) == ["base", "head", "head"]


def test_what_kubernetes_has_is_compared_also_with_a_base_that_is_remembered(
    project: Project,
) -> None:
    # Beside each template, as synthesis does for a cluster of EKS.
    (project.folder / "app.py").write_text(APP + KUBERNETES)
    commit_all()
    git("branch", "--force", "main")
    project.write(CLUSTER.replace("max: 4", "max: 5"))

    first, second = project.result(), project.result()

    [objects] = [each for each in first["stacks"] if each["name"] == "kube/OneCluster.yaml"]
    [changed] = objects["resources"]
    assert (changed["resource_type"], changed["name"]) == ("ConfigMap", "one/settings")
    [change] = changed["properties"]
    assert (change["path"], change["before"], change["after"]) == ("data.nodes", "4", "5")
    assert project.runs == ["head", "base", "head"]
    assert second["stacks"] == first["stacks"]


def test_a_damaged_memory_is_made_anew(project: Project) -> None:
    project.result()
    for entry in project.cache.iterdir():
        entry.write_text("nonsense")
    project.write(CLUSTER.replace("max: 4", "max: 6"))

    assert project.timeouts() == [("4", "6")]
    assert project.timeouts() == [("4", "6")]
    assert project.runs.count("base") == 2


def test_a_cache_that_cannot_be_written_is_reported_and_left_out(project: Project) -> None:
    (project.folder.parent / "cache").write_text("in the way")

    answer = project.review()

    assert answer.code == 0
    assert "nothing is remembered: " in answer.err


@pytest.mark.parametrize(
    ("app", "reason"),
    [
        pytest.param(
            "raise SystemExit('the moon is not right')", "the moon is not right", id="app"
        ),
        pytest.param("", "it ended without a cloud assembly", id="no-assembly"),
    ],
)
def test_a_base_that_does_not_synthesise_leaves_the_head(
    project: Project, app: str, reason: str
) -> None:
    (project.folder / "app.py").write_text(app)
    commit_all()
    git("branch", "--force", "main")
    (project.folder / "app.py").write_text(APP)

    found = project.result()

    assert reason in found["broken_base"]
    assert found["stacks"] == []
    assert found["findings"]["new"] == []
    assert [cluster["name"] for cluster in found["clusters"]] == ["OneCluster"]


def test_a_base_without_clusters_is_reported_without_its_temporary_folder(project: Project) -> None:
    (project.folder / "clusters" / "one.yaml").unlink()
    commit_all()
    git("branch", "--force", "main")
    project.write(CLUSTER)

    assert "names no file in its folder; " in project.result()["broken_base"]


def test_a_base_whose_cluster_file_is_wrong_is_reported_with_its_line(project: Project) -> None:
    project.write(CLUSTER.replace("trn1.32xlarge", "trn1.32xl"))
    commit_all()
    git("branch", "--force", "main")
    project.write(CLUSTER)

    broken = project.result()["broken_base"]

    assert broken.startswith("clusters/one.yaml:4: ")
    assert "did you mean trn1.32xlarge?" in broken


class Content:
    """A tool that runs, and finds nothing."""

    NAME = "content"

    def missing(self) -> None:
        return None

    def basis(self) -> None:
        return None

    def loaded(self, folder: Path) -> AbstractContextManager[Judge]:
        return nullcontext(lambda assembly: ())


@pytest.mark.parametrize("gone", ["cdk.json", "project"])
def test_a_project_that_is_new_is_added_and_not_broken(
    project: Project, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    monkeypatch.setattr(reviewing, "PROGRAMS", (Content(),))
    if gone == "cdk.json":
        (project.folder / "cdk.json").unlink()
        commit_all()
        git("branch", "--force", "main")
        (project.folder / "cdk.json").write_text('{"app": "python3 app.py"}')
    else:
        write_project(project.folder / "sub", APP)
        monkeypatch.chdir(project.folder / "sub")

    found = project.result()

    assert found["broken_base"] is None
    assert [(each["name"], each["effect"]) for each in found["stacks"]] == [("OneCluster", "added")]
    assert found["findings"]["new"]
    assert found["notes"] == []
    assert project.runs == ["head"]


def test_a_project_in_a_subfolder_is_compared_with_itself(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_project(project.folder / "sub", APP, CLUSTER.replace("max: 4", "max: 7"))
    commit_all()
    git("branch", "--force", "main")
    monkeypatch.chdir(project.folder / "sub")
    Path("clusters/one.yaml").write_text(CLUSTER.replace("max: 4", "max: 8"))

    assert project.timeouts() == [("7", "8")]


@pytest.mark.parametrize(
    ("version", "noted"),
    [
        ("0.0.1", ["the base pins trainshed 0.0.1; both sides are synthesised by"]),
        (__version__, []),
    ],
    ids=["another", "the-same"],
)
def test_another_version_in_the_base_is_noted(
    project: Project, version: str, noted: list[str]
) -> None:
    (project.folder / "requirements.txt").write_text(f"trainshed[offline]=={version}\n")
    commit_all()
    git("branch", "--force", "main")

    notes = project.result()["notes"]

    assert [note.partition(" the installed")[0] for note in notes] == noted


def test_a_head_that_does_not_synthesise_is_an_error(project: Project) -> None:
    (project.folder / "app.py").write_text("raise SystemExit('the moon is not right')")

    answer = project.review()

    assert answer.code == 1
    assert answer.out == ""
    assert answer.err.endswith("the moon is not right\n")
    assert worktrees() == 1


def test_no_secret_that_a_failing_app_prints_is_in_the_log(project: Project) -> None:
    key = "-----BEGIN PRIVATE " + "KEY-----\\nMIIEpAIBAAKCAQEA7bq4\\n-----END PRIVATE " + "KEY-----"
    (project.folder / "app.py").write_text(
        f"raise SystemExit('no access with DB_PASS=hunter2 and\\n{key}\\nin 482913570624')"
    )

    answer = project.review()

    assert answer.code == 1
    assert answer.err.endswith("no access with DB_PASS=REDACTED and\nREDACTED\nin ACCOUNT\n")


def test_a_head_whose_cluster_file_is_wrong_is_wrong_input(project: Project) -> None:
    project.write(CLUSTER.replace("trn1.32xlarge", "trn1.32xl"))

    answer = project.review()

    assert answer.code == 2
    assert "error: clusters/one.yaml:4: " in answer.err
    assert project.runs == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(("--base", "nowhere"), "--base nowhere: git knows no such commit", id="base"),
        pytest.param(("--fail-on", "sadness"), "threshold 'sadness' is not known", id="fail-on"),
        pytest.param(("--output", "no/file"), "there is no folder no; make it", id="output"),
        pytest.param(("--output", "clusters"), "--output clusters is a folder; name", id="folder"),
        pytest.param(("--format", "pdf"), "'pdf' is not one of", id="format"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_synthesised(
    project: Project, options: tuple[str, ...], message: str
) -> None:
    answer = project.review(*options)

    assert answer.code == 2
    assert message in answer.err
    assert project.runs == []


def test_a_project_without_the_engine_is_refused_before_anything_is_synthesised(
    project: Project,
) -> None:
    (project.folder / "node_modules").unlink()

    answer = project.review()

    assert answer.code == 2
    assert "npm install --save-dev --save-exact @aws-cdk/cloudformation-diff@" in answer.err
    assert project.runs == []


def test_outside_of_a_repository_it_says_so(
    trainshed: Trainshed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    answer = trainshed("review")

    assert answer.code == 2
    assert "not a git repository" in answer.err


def test_a_threshold_that_is_met_is_reported_and_fails(project: Project) -> None:
    project.write(CLUSTER.replace("max: 4", "max: 6"))

    met = project.review("--fail-on", "cost>10%")
    not_met = project.review("--fail-on", "cost>60%")

    assert (met.code, not_met.code) == (1, 0)
    assert "\n--fail-on cost>10%: " in met.err
    assert "--fail-on" not in not_met.err
    assert "## Review: " in met.out


def test_the_report_goes_into_files_whose_endings_say_the_format(project: Project) -> None:
    (project.folder / "report.md").write_text("an old one")
    beginnings = {"md": "<!-- trainshed", "html": "<!doctype html>", "json": "{\n"}

    answer = project.review(*(f"--output=report.{ending}" for ending in beginnings))

    assert (answer.code, answer.out) == (0, "")
    for ending, beginning in beginnings.items():
        assert (project.folder / f"report.{ending}").read_text().startswith(beginning)
    assert not [*project.folder.glob(".report*")]


def test_a_report_goes_where_a_link_leads_and_into_a_pipe(project: Project) -> None:
    link, pipe = project.folder / "link.md", project.folder / "pipe.md"
    link.symlink_to("report.md")
    os.mkfifo(pipe)
    # Opened for both, nobody waits for the other end, and a pipe holds a short report.
    with os.fdopen(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), "rb") as reading:
        project.review("--output", "link.md", "--output", "pipe.md")

        assert link.is_symlink()
        assert (project.folder / "report.md").read_bytes() == reading.read()


@pytest.mark.parametrize(
    ("way", "code"), [("Ctrl-C", 130), ("SIGINT", 130), ("SIGTERM", 143), ("close", 129)]
)
def test_a_stopped_review_leaves_no_worktree(project: Project, way: str, code: int) -> None:
    started = project.folder.parent / "started"
    os.mkfifo(started)
    waiting = (
        f"import signal, pathlib; pathlib.Path({str(started)!r}).write_text('x'); signal.pause()"
    )
    (project.folder / "app.py").write_text(waiting)
    commit_all()
    git("branch", "--force", "main")
    (project.folder / "app.py").write_text(APP)
    command = [sys.executable, "-m", "trainshed.cli", "review", "--base", "main"]
    with session(command, folder=project.folder, environment=os.environ) as review:
        assert started.read_text() == "x"
        assert worktrees() == 2
        review.stop(way)

    assert review.process.returncode == code
    assert worktrees() == 1
    assert [*(project.folder.parent / "tmp").iterdir()] == []


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Review]:
    """The review of a one-line change to a real app, by all tools; made once, in some seconds."""
    folder = tmp_path_factory.mktemp("real")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setattr(checking, "synthesise", synthesise_in_this_process)
        for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
            patch.setenv(name, os.devnull)
        write_project(folder / "project", (TEMPLATE / "app.py").read_text())
        configuration = json.loads((ROOT / "cdk.json").read_text()) | {"app": "python3 app.py"}
        (folder / "project" / "cdk.json").write_text(json.dumps(configuration))
        patch.chdir(folder / "project")
        git("init", "--quiet", "--initial-branch=main")
        commit_all()
        Path("clusters/one.yaml").write_text(CLUSTER.replace("max: 4", "max: 6"))
        found = review_change(Path(), "main", lambda step: None)
        assert worktrees() == 1
        yield found


@pytest.mark.synth
def test_a_one_line_change_of_a_real_app_changes_what_follows_from_it(real: Review) -> None:
    [stack] = real.stacks

    changed = {(each.resource_type, each.effect) for each in stack.resources}
    assert (stack.name, stack.effect) == ("OneCluster", Effect.CHANGED)
    assert ("AWS::Batch::ComputeEnvironment", Effect.CHANGED) in changed
    assert ("AWS::Batch::JobDefinition", Effect.CHANGED) in changed


@pytest.mark.synth
def test_every_tool_judges_a_real_app(real: Review) -> None:
    ran = {run.tool for run in real.findings.runs if run.state is State.RAN}
    wanted = {"cdk", "cdk-nag", "cdk-preflight", "cfn-lint"}

    assert ran == (wanted if checkov.missing() else wanted | {"checkov"})
    assert [each for each in real.findings.new if each.severity is Severity.ERROR] == []
    assert real.findings.still_accepted > 0


@pytest.mark.synth
@pytest.mark.parametrize(
    ("form", "beginning"),
    [("markdown", "<!-- "), ("html", "<!doctype html>"), ("json", "{\n")],
)
def test_a_review_is_written_in_each_format(
    real: Review,
    trainshed: Trainshed,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    beginning: str,
) -> None:
    monkeypatch.setattr(command, "review_change", lambda *_: real)

    answer = trainshed("review", "--format", form)

    assert answer.code == 0
    assert answer.out.lower().startswith(beginning)
    assert "OneCluster" in answer.out

"""The commit that a change starts from: which one it is, and what is left of its check-out."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.errors import TrainshedError
from trainshed.review.repository import checked_out, find_base

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Run git in a repository that is the working directory; no settings come from outside."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def run(*arguments: str) -> str:
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        return subprocess.run(
            ["git", *identity, *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    run("init", "--quiet", "--initial-branch=main")
    return run


def commit(git: Git, name: str, text: str) -> str:
    """Commit a file, and return the commit."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)
    git("add", "--all")
    git("commit", "--quiet", "--message", name)
    return git("rev-parse", "HEAD")


def worktrees(git: Git) -> int:
    """How many folders of the repository git knows."""
    return git("worktree", "list", "--porcelain").count("worktree ")


def test_the_base_is_where_the_branch_left_and_not_where_the_other_one_is_now(git: Git) -> None:
    left = commit(git, "one", "1")
    git("checkout", "--quiet", "-b", "change")
    commit(git, "two", "2")
    git("checkout", "--quiet", "main")
    commit(git, "three", "3")
    git("checkout", "--quiet", "change")

    base = find_base(Path(), "main")

    assert base.commit == left
    assert base.name == f"main ({left[:7]})"
    with checked_out(base) as folder:
        assert [each.name for each in folder.iterdir() if each.name != ".git"] == ["one"]


def test_a_project_in_a_subfolder_is_found_there(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(git, "a b/project/cdk.json", "{}")
    monkeypatch.chdir("a b/project")

    base = find_base(Path(), "main")

    assert base.project == "a b/project"
    with checked_out(base) as folder:
        assert [each.name for each in folder.iterdir()] == ["cdk.json"]


def test_a_project_that_is_new_is_not_in_the_base(
    git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(git, "one", "1")
    Path("project").mkdir()
    monkeypatch.chdir("project")

    with checked_out(find_base(Path(), "main")) as folder:
        assert not folder.exists()


def test_what_is_checked_out_leaves_no_trace(git: Git, tmp_path: Path) -> None:
    commit(git, "one", "1")

    with pytest.raises(ZeroDivisionError), checked_out(find_base(Path(), "main")):
        assert worktrees(git) == 2
        raise ZeroDivisionError

    assert worktrees(git) == 1
    assert [*(tmp_path / "tmp").iterdir()] == []


def test_hooks_of_the_repository_do_not_run(git: Git, tmp_path: Path) -> None:
    commit(git, "one", "1")
    hook = Path(".git/hooks/post-checkout")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)

    with checked_out(find_base(Path(), "main")):
        pass

    assert not (tmp_path / "hooked").exists()


def test_variables_of_another_repository_do_not_mislead(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = commit(git, "one", "1")
    other = tmp_path / "other"
    git("init", "--quiet", str(other))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))

    base = find_base(Path(), "main")

    assert (base.commit, base.repository) == (mine, Path.cwd())
    with checked_out(base) as folder:
        assert (folder / "one").is_file()


def refusal(ref: str) -> str:
    """What the words are when there is no base."""
    with pytest.raises(TrainshedError) as refused:
        find_base(Path(), ref)
    assert refused.value.exit_code == 2
    return str(refused.value)


def test_a_branch_that_is_not_there_says_how_to_get_it(git: Git) -> None:
    commit(git, "one", "1")

    assert refusal("origin/main") == (
        "--base origin/main: git knows no such commit; fetch it (git fetch origin), or name "
        "another one with --base"
    )
    assert "--base --all: git knows no such commit" in refusal("--all")


def test_a_shallow_clone_says_to_fetch_all(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(git, "one", "1")
    commit(git, "two", "2")
    git("clone", "--quiet", "--depth=1", f"file://{Path.cwd()}", str(tmp_path / "shallow"))
    monkeypatch.chdir(tmp_path / "shallow")

    assert "fetch-depth: 0" in refusal("main~1")
    assert "git fetch --unshallow" in refusal("main~1")


def test_histories_without_a_common_commit_are_refused(git: Git) -> None:
    commit(git, "one", "1")
    git("checkout", "--quiet", "--orphan", "other")
    commit(git, "two", "2")

    assert "git finds no commit that it and HEAD have in common; name a branch" in refusal("main")


def test_a_repository_without_a_commit_is_refused(git: Git) -> None:
    assert refusal("main").endswith(
        "has no commit yet, so there is nothing to compare with; commit first"
    )


def test_a_folder_without_a_repository_is_refused(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "tmp")

    assert "not a git repository" in refusal("main")


def test_a_machine_without_git_is_told_to_install_it(
    git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert refusal("main") == "git is not installed, or not on the PATH; install it"


STOPPED = """
import os, signal, sys
from pathlib import Path
from trainshed.review.repository import checked_out, find_base
from trainshed.stopping import on_stop
def interrupt(number):
    raise KeyboardInterrupt
with on_stop(interrupt), checked_out(find_base(Path(), "main")):
    print("checked out", flush=True)
    signal.pause()
"""


def test_a_stopped_review_leaves_no_trace(git: Git, tmp_path: Path) -> None:
    commit(git, "one", "1")
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout and process.stdout.readline() == "checked out\n"
        process.send_signal(signal.SIGTERM)

    assert process.returncode != 0
    assert worktrees(git) == 1
    assert [*(tmp_path / "tmp").iterdir()] == []


def test_a_review_stopped_while_git_checks_out_leaves_no_trace(git: Git, tmp_path: Path) -> None:
    commit(git, "one", "1")
    # git waits here half-way, until it is told to go on.
    filter_program = tmp_path / "filter"
    for fifo in ("begun", "go"):
        os.mkfifo(tmp_path / fifo)
    filter_program.write_text(f"#!/bin/sh\necho > {tmp_path}/begun\ncat {tmp_path}/go\n")
    filter_program.chmod(0o755)
    commit(git, ".gitattributes", "one filter=slow\n")
    git("config", "filter.slow.smudge", str(filter_program))
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        (tmp_path / "begun").read_text()
        process.send_signal(signal.SIGTERM)
        (tmp_path / "go").write_text("on")

    assert process.returncode != 0
    assert worktrees(git) == 1
    assert [*(tmp_path / "tmp").iterdir()] == []

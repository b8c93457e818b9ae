"""What git says about a project: the commit that a change starts from, and its files."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from trainshed.errors import TrainshedError, one_line

# The folder alone says which repository is meant, as do hooks and tools that set GIT_DIR for their
# own; settings that a caller gives with GIT_CONFIG_COUNT, such as safe.directory, stay.
_KEPT = ("GIT_CONFIG", "GIT_EXEC_PATH", "GIT_SSL", "GIT_SSH")
# Messages in English, nobody is asked, and what others do in the repository is not locked out.
_ENVIRONMENT = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseCommit:
    """The commit that a change starts from.

    Attributes:
        name: for people, for instance `origin/main (1a2b3c4)`.
        repository: its top folder.
        commit: its hash.
        tree: hash of all that is in it.
        project: path of the project in the repository; empty when that is its top folder.
    """

    name: str
    repository: Path
    commit: str
    tree: str
    project: str


def find_base(folder: Path, ref: str) -> BaseCommit:
    """Return the commit at which the branch of a project left another one.

    What has come to the other branch since is not part of the change.

    Args:
        folder: of the project.
        ref: the branch that the change is for, or any name of a commit.

    Raises:
        TrainshedError: there is no repository, no such branch, or no such commit.
    """
    repository = Path(_git(folder, "rev-parse", "--show-toplevel"))
    project = _git(folder, "rev-parse", "--show-prefix").rstrip("/")
    if not _commit(folder, "HEAD"):
        raise TrainshedError(
            f"{repository} has no commit yet, so there is nothing to compare with; commit first"
        )
    given = _commit(folder, ref)
    shallow = _git(folder, "rev-parse", "--is-shallow-repository") == "true"
    if not given:
        raise TrainshedError(f"--base {ref}: git knows no such commit; {_fetch(shallow)}")
    commit = _asked(folder, "merge-base", "HEAD", given)
    if not commit:
        raise TrainshedError(
            f"--base {ref}: git finds no commit that it and HEAD have in common; "
            + (_fetch(shallow) if shallow else "name a branch that HEAD comes from")
        )
    return BaseCommit(
        # A whole hash says no more, and looks like the key of many a service.
        name=f"commit {commit[:7]}" if ref == given else f"{ref} ({commit[:7]})",
        repository=repository,
        commit=commit,
        tree=_git(folder, "rev-parse", f"{commit}^{{tree}}"),
        project=project,
    )


@contextmanager
def checked_out(base: BaseCommit) -> Iterator[Path]:
    """Check a commit out into a temporary folder, and remove it at the end.

    Returns:
        folder of the project in it, whether it is there or not.
    """
    quiet = ("-c", "core.hooksPath=/dev/null", "worktree")
    with TemporaryDirectory(prefix="trainshed-review-", ignore_cleanup_errors=True) as name:
        worktree = Path(name).resolve() / "base"
        try:
            _git(base.repository, *quiet, "add", "--quiet", "--detach", str(worktree), base.commit)
            yield worktree / base.project
        finally:
            # Twice: also where an `add` that failed has left it locked. It may have failed before
            # git knew the folder.
            _run(base.repository, *quiet, "remove", "--force", "--force", str(worktree))


def _fetch(shallow: bool) -> str:
    if shallow:
        return (
            "this is a shallow clone, so fetch all commits: git fetch --unshallow, or "
            "fetch-depth: 0 of actions/checkout, or GIT_DEPTH: 0 of GitLab"
        )
    return "fetch it (git fetch origin), or name another one with --base"


def _commit(folder: Path, name: str) -> str:
    """Return the hash of the commit that a name is for; an empty text when it is for none."""
    command = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return _asked(folder, *command)


def _asked(folder: Path, *arguments: str) -> str:
    """Return what git prints, which is nothing when the answer is no."""
    return _run(folder, *arguments).stdout.strip()


def _git(folder: Path, *arguments: str) -> str:
    done = _run(folder, *arguments)
    if done.returncode:
        said = one_line(done.stderr.partition("\n\n")[0].removeprefix("fatal: "))
        raise TrainshedError(
            f"git cannot tell what changed in {folder.resolve()}: {said or 'it gives no reason'}"
        )
    return done.stdout.removesuffix("\n")


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_KEPT)
    }
    try:
        process = subprocess.Popen(
            ["git", *arguments],
            cwd=folder,
            env=kept | _ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="surrogateescape",
            # What stops us does not stop it half-way, which would leave an entry behind.
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise TrainshedError("git is not installed, or not on the PATH; install it") from error
    try:
        out, err = process.communicate()
    except KeyboardInterrupt:
        process.communicate()
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)

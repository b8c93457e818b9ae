"""The versions that a new project pins: those of our own lock."""

import re

from trainshed import __version__
from trainshed.sources import shipped

_TESTER = "pytest"


def requirements_text() -> str:
    """Return `requirements.txt`: trainshed, pytest, and all that they need at locked versions.

    Without hashes: with them pip would ask for a hash of trainshed too, which it cannot have.
    """
    blocks = _blocks("requirements.txt")
    for block in _blocks("requirements-dev.txt"):
        if block.startswith(f"{_TESTER}==") or _TESTER in _needed_by(block):
            blocks.append(block)
    pins = sorted({_pin(block) for block in blocks})
    return "\n".join(
        [
            "# On no package index yet: README.md says how to install these two first.",
            f"trainshed[ami,offline]=={__version__}",
            f"embedded-aws=={__version__}",
            "",
            "# What they need, and pytest, at the versions that they are tested with.",
            *pins,
            "",
        ]
    )


def _blocks(lock: str) -> list[str]:
    """Return the entries of a lock: each is a line and its indented ones."""
    blocks = re.split(r"\n(?=\S)", shipped(lock).read_text(encoding="utf-8"))
    return [block for block in blocks if not block.startswith("#")]


def _pin(block: str) -> str:
    return block.partition(" \\\n")[0]


def _needed_by(block: str) -> set[str]:
    return set(block.partition("# via")[2].replace("#", " ").split())

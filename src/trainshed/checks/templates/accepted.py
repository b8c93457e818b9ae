"""What other tools find in our own stacks that we accept, each with its reason."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from trainshed.documents.problems import Path, Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The file that a stack follows from.

    Attributes:
        where: where its values stand.
        field: what the stack's resources are about.
        kms_key: ARN of the key that encrypts; None for keys of AWS.
    """

    where: Where
    field: Path
    kms_key: str | None


def accepted_by_us(tool: str, rule: str, owner: Owner) -> str | None:
    """Return why we accept the findings of a rule in the stacks of a file; None if we do not."""
    entry = _entries().get(tool, {}).get(rule)
    if not entry or ("unless" in entry and getattr(owner, entry["unless"])):
        return None
    return str(entry["reason"])


def always_accepted(tool: str) -> list[str]:
    """Return the rules of a tool whose findings we accept, whatever a cluster file says."""
    return [rule for rule, entry in _entries().get(tool, {}).items() if "unless" not in entry]


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files(__package__).joinpath("accepted.toml").read_text(encoding="utf-8"))

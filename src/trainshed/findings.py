"""What every kind of check returns: a judgment, not a contradiction."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One judgment about a cluster.

    Attributes:
        rule: stable id, for instance `TS-LIF-001`.
        severity: `error` or `warning`.
        message: what was found.
        remedy: what to do about it.
    """

    rule: str
    severity: Severity = Severity.WARNING
    message: str
    remedy: str

    def __str__(self) -> str:
        """Return `RULE severity: message; remedy`."""
        return f"{self.rule} {self.severity}: {self.message}; {self.remedy}"

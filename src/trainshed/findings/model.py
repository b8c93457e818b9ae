"""What every kind of check returns: a judgment, not a contradiction."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from trainshed.documents.problems import Path, Where


class Severity(StrEnum):
    """How much a finding matters: AWS refuses or a job hangs; it may be wrong; good to know."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Basis(StrEnum):
    """How it is known that a rule is right."""

    DOCUMENTED = "documented by the vendor"
    OBSERVED = "observed in the vendor's own data or in a synthesised template"
    INFERRED = "inferred from what is documented; not seen on AWS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """What a rule found.

    Attributes:
        path: the field of the file that it is about; () for the whole.
        message: what was found, with the values seen.
        remedy: what to do about it.
        severity: where it is not the rule's.
    """

    path: Path = ()
    message: str
    remedy: str
    severity: Severity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a finding stands in a file that a user wrote.

    Attributes:
        file: as given on the command line.
        line: from 1; None when the file has none, as with what was made in Python.
        column: from 1.
        field: what it is about, for instance `instance.nodes.max`; empty for the whole file.
    """

    file: str
    line: int | None = None
    column: int | None = None
    field: str = ""

    @classmethod
    def of(cls, where: Where, path: Path) -> Self:
        """Return where a field of a file stands, or the nearest one around it."""
        position = where.position(path)
        return cls(
            file=where.file,
            line=position.line if position else None,
            column=position.column if position else None,
            field=".".join(map(str, path)),
        )

    def __str__(self) -> str:
        """Return `file:line:column`, as far as it is known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One judgment, for instance about a cluster.

    Attributes:
        rule: stable id, for instance `TS-LIF-001`; of another tool its own.
        severity: `error`, `warning` or `info`.
        message: what was found.
        remedy: what to do about it; empty where another tool says nothing of that.
        place: where it stands in the cluster file, if it is about one.
        accepted: why the cluster's owner accepts it; None when nobody does.
        tool: whose rule it is.
        resource: path of the resource in the app, or its logical id, when it is about one.
        source: address of the page that says so, where there is one.
    """

    rule: str
    severity: Severity = Severity.WARNING
    message: str
    remedy: str
    place: Place | None = None
    accepted: str | None = None
    tool: str = "trainshed"
    resource: str | None = None
    source: str | None = None

    @property
    def rank(self) -> tuple[bool, int]:
        """Its place among others: the open ones first, the most severe first."""
        return self.accepted is not None, tuple(Severity).index(self.severity)

    @property
    def fails(self) -> bool:
        """Whether it makes a check fail."""
        return self.accepted is None and self.severity is not Severity.INFO

    def __str__(self) -> str:
        """Return `RULE severity: message; remedy`."""
        said = "; ".join(filter(None, (self.message, self.remedy)))
        accepted = f"; accepted: {self.accepted}" if self.accepted else ""
        return f"{self.rule} {self.severity}: {said}{accepted}"

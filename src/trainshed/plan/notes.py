"""What planning gathers on its way: problems and decisions."""

from dataclasses import dataclass, field

from pydantic import BaseModel

from trainshed.documents.problems import Path, Problem
from trainshed.spec import ClusterSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One value that the planner chose.

    Attributes:
        field: what was decided, for instance `zone`.
        value: the choice, for people.
        reason: why.
    """

    field: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class Notes:
    """Collects, for one cluster, what is wrong and what was decided."""

    spec: ClusterSpec
    problems: list[Problem] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    def problem(self, path: str | Path, message: str) -> None:
        """Note a contradiction at a path of the spec, or a dotted one; list entries need the first.

        A key that has a dot needs the first, too.
        """
        keys = tuple(path.split(".")) if isinstance(path, str) else path
        found = Problem(where=self.spec.where, path=keys, message=message)
        self.problems.append(found)

    def decide(self, name: str, value: object, reason: str) -> None:
        """Note a choice and its reason."""
        self.decisions.append(Decision(field=name, value=str(value), reason=reason))


def origin(model: BaseModel, name: str) -> str:
    """Return the reason of a value that the spec gives or leaves to its default."""
    return "as asked" if name in model.model_fields_set else "the default"

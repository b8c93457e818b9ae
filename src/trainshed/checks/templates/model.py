"""What the tools judge: a synthesised app."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainshed.app.synthesis import SynthesisedStack


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """A synthesised app.

    Attributes:
        folder: of the cloud assembly.
        stacks: by name.
    """

    folder: Path
    stacks: Mapping[str, SynthesisedStack]

    def stack_around(self, path: str) -> str | None:
        """Return the name of the stack that a construct is in, by its path."""
        for name, stack in self.stacks.items():
            if f"{path}/".startswith(f"{stack.path}/"):
                return name
        return None

    def resource_type(self, stack: str, path: str) -> str | None:
        """Return the type of the resource with a path; None for another construct."""
        there = self.stacks[stack]
        for logical_id, resource in there.template.get("Resources", {}).items():
            if there.construct(logical_id) == path:
                return str(resource["Type"])
        return None

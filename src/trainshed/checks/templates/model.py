"""What a tool says of templates: what it found, or why it did not run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from trainshed.findings import Severity
from trainshed.synthesis import SynthesisedStack


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFinding:
    """What a tool found in a template.

    Attributes:
        rule: the tool's own id of its rule.
        severity: as the tool says.
        message: what was found.
        remedy: what to do about it, where the tool says so.
        source: address of the page about the rule, where there is one.
        stack: name of the stack; None for the whole app.
        path: of the construct in the app, which may be the stack.
        accepted: why the code of the app accepts it, or we do; None when nobody does.
    """

    rule: str
    severity: Severity
    message: str
    remedy: str = ""
    source: str | None = None
    stack: str | None
    path: str
    accepted: str | None = None


class State(StrEnum):
    """What came of a tool."""

    RAN = "ran"
    NOT_RUN = "not run"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """One tool, and what came of it.

    Attributes:
        tool: its name.
        state: whether it ran; one that failed makes the check fail.
        reason: why it did not run, or failed, and what to do; empty when it ran.
        findings: what it found.
        seconds: how long it took; None where that is part of the synthesis.
    """

    tool: str
    state: State = State.RAN
    reason: str = ""
    findings: tuple[TemplateFinding, ...] = field(default=(), repr=False)
    seconds: float | None = None

"""The other tools that judge templates: whether each ran, and whose rule an id is, by its form."""

import re
from dataclasses import dataclass, field
from enum import StrEnum

from trainshed.findings.model import Severity

OURS = "trainshed"
_FORMS = (
    (re.compile(r"TS-[A-Z]+-[0-9]+"), (OURS,)),
    (re.compile(r"pf-[a-z0-9-]+"), ("cdk-preflight",)),
    (re.compile(r"(AwsSolutions|Serverless)-[A-Za-z0-9]+"), ("cdk-nag",)),
    (re.compile(r"[EFIW][0-9]{4}"), ("cdk", "cfn-lint")),
    (re.compile(r"CKV2?_[A-Z]+_[0-9]+"), ("checkov",)),
)


def tools_of(rule_id: str) -> tuple[str, ...]:
    """Return the tools whose rules have ids of this form; none for what is no rule's id."""
    return next((tools for form, tools in _FORMS if form.fullmatch(rule_id)), ())


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
    """Whether a tool ran."""

    RAN = "ran"
    NOT_RUN = "not run"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """One tool, and whether it ran.

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

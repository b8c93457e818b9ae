"""What a cluster's owner says about findings: accepted with a reason, or how severe."""

from typing import Annotated

from pydantic import Field

from trainshed.documents.model import Document, Model
from trainshed.findings import Severity
from trainshed.spec import forms

RuleId = Annotated[str, Field(pattern=forms.RULE.pattern, max_length=128)]
Reason = Annotated[str, Field(pattern=forms.REASON.pattern, max_length=500)]


class FindingsSpec(Model):
    """Findings that are accepted or judged differently; those of other tools by their own ids."""

    accept: dict[RuleId, Reason] = Field(
        default_factory=dict, json_schema_extra={"additionalProperties": False}
    )
    """Why a finding is accepted, by the id of its rule, for instance {TS-ZON-001: "our accounts
    share one mapping of zones"}. It is still shown, and no longer fails a check."""
    severity: dict[RuleId, Severity] = Field(
        default_factory=dict, json_schema_extra={"additionalProperties": False}
    )
    """Another severity for the findings of a rule: error, warning or info."""


class FindingsFile(Document):
    """A file of its own that says what is accepted, for files that cannot say it themselves."""

    findings: FindingsSpec
    """As in a cluster file."""

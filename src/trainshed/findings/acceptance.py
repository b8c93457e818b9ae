"""What a file's owner says about findings: accepted with a reason, or how severe.

It is applied once, when every judge is done.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Protocol

from trainshed.documents.problems import Where
from trainshed.errors import did_you_mean
from trainshed.findings.model import Finding, Severity, Violation
from trainshed.findings.rule import Over, all_rules, rule
from trainshed.findings.run import found
from trainshed.findings.tools import OURS, tools_of


class OwnersWords(Protocol):
    """What an owner says."""

    @property
    def accept(self) -> Mapping[str, str]:
        """Why a finding is accepted, by the id of its rule."""

    @property
    def severity(self) -> Mapping[str, Severity]:
        """How severe the findings of a rule are, by its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A statement, and what it is held against.

    Attributes:
        said: the statement.
        applied: ids of our own rules that were applied.
        tools: the other tools that ran; of another one nothing is known.
        found: ids of the rules that found something.
    """

    said: OwnersWords
    applied: Set[str]
    tools: Set[str]
    found: Set[str]


_STATEMENTS: Over[Stated, Stated] = Over(
    command="check, preflight, lint", parts=lambda stated: (stated,)
)


def accept(
    said: OwnersWords,
    where: Where,
    findings: Iterable[Finding],
    *,
    applied: Set[str],
    tools: Set[str] = frozenset(),
) -> tuple[Finding, ...]:
    """Give findings the severities and the acceptances of their owner; add those about these.

    Args:
        said: what the owner says.
        where: the file that says it.
        findings: of all judges.
        applied: ids of our own rules that were applied.
        tools: the other tools that ran.
    """
    findings = tuple(findings)
    stated = Stated(
        said=said, applied=applied, tools=tools, found={finding.rule for finding in findings}
    )
    about = found(_STATEMENTS.command, stated, where)
    return tuple(
        replace(
            finding,
            severity=said.severity.get(finding.rule, finding.severity),
            accepted=said.accept.get(finding.rule, finding.accepted),
        )
        for finding in (*findings, *about)
    )


@rule(
    "TS-FND-001",
    over=_STATEMENTS,
    title="A rule that does not exist is accepted, or given a severity",
    why="""
`findings.accept` and `findings.severity` name rules by their ids: ours, or those of cdk-preflight,
cdk-nag, CDK, cfn-lint and checkov. With a wrong id nothing is accepted.
""",
    sources=(
        "https://github.com/badmintoncryer/cdk-preflight#bundled-rules",
        "https://github.com/cdklabs/cdk-nag/blob/main/RULES.md",
        "https://github.com/aws-cloudformation/cfn-lint",
        "https://www.checkov.io/5.Policy%20Index/cloudformation.html",
    ),
    example={
        "cluster file": """
name: Example
region: us-west-2
instance: {type: trn1.32xlarge}
findings:
  accept: {TS-ZON-1: our accounts share one mapping of zones}
"""
    },
)
def unknown_rule(stated: Stated) -> Iterator[Violation]:
    """An id must be that of a rule."""
    for field, ids in (("accept", stated.said.accept), ("severity", stated.said.severity)):
        for rule_id in ids:
            ours = tools_of(rule_id) in ((), (OURS,))
            if ours and rule_id not in stated.applied and rule_id not in _acceptable():
                near = did_you_mean(rule_id, _acceptable())
                yield Violation(
                    path=("findings", field, rule_id),
                    message=f"{rule_id} is not a rule of trainshed or of another tool{near}",
                    remedy="write the id as a finding shows it, or take the line out",
                )


def _acceptable() -> tuple[str, ...]:
    return tuple(rule_id for rule_id, known in all_rules().items() if known.is_acceptable)


@rule(
    "TS-FND-002",
    over=_STATEMENTS,
    title="An accepted finding is no longer found",
    severity=Severity.INFO,
    why="""
The rule finds nothing any more, because the cluster or the rule changed. The acceptance would
hide it when it comes back for another reason.
""",
    sources=("https://docs.astral.sh/ruff/rules/unused-noqa/",),
    example={
        "cluster file": """
name: Example
region: us-west-2
instance: {type: trn1.32xlarge}
findings:
  accept: {TS-ZON-001: our accounts share one mapping of zones}
"""
    },
)
def unused_acceptance(stated: Stated) -> Iterator[Violation]:
    """An acceptance should find something."""
    for rule_id in stated.said.accept:
        others = set(tools_of(rule_id)) - {OURS}
        ran = rule_id in stated.applied or (others and others <= stated.tools)
        if ran and rule_id not in stated.found:
            yield Violation(
                path=("findings", "accept", rule_id),
                message=f"{rule_id} is accepted, but nothing finds it any more",
                remedy="take the line out",
            )

"""Apply rules, and turn what they find into findings."""

from collections.abc import Iterator

from trainshed.documents.problems import Where
from trainshed.findings.model import Finding, Place, Violation
from trainshed.findings.rule import Rule, checks_of, rule_called


def found(command: str, whole: object, where: Where | None = None) -> Iterator[Finding]:
    """Yield what the rules of a command find.

    Args:
        command: for instance `check`.
        whole: what they are applied to.
        where: the file that the findings stand in, if they stand in one.
    """
    for check in checks_of(command):
        rule = rule_called(check.rule_id)
        for part in check.parts(whole):
            for violation in check.find(part, whole):
                yield finding_of(rule, violation, where)


def finding_of(rule: Rule, violation: Violation | Finding, where: Where | None) -> Finding:
    """Return what a rule found, at its place; what another judge has found stays as it is."""
    if isinstance(violation, Finding):
        return violation
    return Finding(
        rule=rule.id,
        severity=violation.severity or rule.severity,
        message=violation.message,
        remedy=violation.remedy,
        place=Place.of(where, violation.path) if where else None,
        source=rule.sources[0] if where and rule.sources else None,
    )

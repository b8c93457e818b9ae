"""Apply the rules to a plan, and what its cluster file says about findings."""

from collections.abc import Iterable
from dataclasses import replace

from trainshed.checks.rule import RuleFacts, Violation, all_rules
from trainshed.documents.problems import Path, Where
from trainshed.findings import Finding, Place, Severity
from trainshed.plan import ClusterPlan, Fleet
from trainshed.spec import FindingsSpec

_ORDER = tuple(Severity)


def judge(plan: ClusterPlan, fleet: Fleet | None = None) -> tuple[Finding, ...]:
    """Return what our own rules find in a plan, the most severe first.

    Args:
        plan: of the cluster.
        fleet: the clusters, itself among them, that are to be there at the same time; by default
            it is alone.
    """
    together = fleet or Fleet(clusters=(plan,))
    found = (
        finding_of(plan.where, rule, violation)
        for rule in all_rules().values()
        for violation in rule.check(plan, together)
    )
    return as_owner_says(plan.findings, found)


def as_owner_says(said: FindingsSpec, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Give findings the severities and the acceptances of the cluster file, and sort them."""
    judged = [
        replace(
            finding,
            severity=said.severity.get(finding.rule, finding.severity),
            accepted=said.accept.get(finding.rule, finding.accepted),
        )
        for finding in findings
    ]
    return tuple(
        sorted(judged, key=lambda each: (bool(each.accepted), _ORDER.index(each.severity)))
    )


def place(where: Where, path: Path) -> Place:
    """Return where a field of a file stands, or the nearest one around it."""
    position = where.position(path)
    return Place(
        file=where.file,
        line=position.line if position else None,
        column=position.column if position else None,
        field=".".join(map(str, path)),
    )


def finding_of(where: Where, rule: RuleFacts, violation: Violation) -> Finding:
    """Return what a rule found, with its place in the cluster file."""
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        message=violation.message,
        remedy=violation.remedy,
        place=place(where, violation.path),
        source=rule.sources[0],
    )

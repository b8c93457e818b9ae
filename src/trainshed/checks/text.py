"""A finding in lines, for people."""

from trainshed.checks.rule_ids import OURS
from trainshed.findings import Finding


def finding_text(finding: Finding) -> str:
    """Return a finding in lines: where and what, then what to do."""
    accepted = " (accepted)" if finding.accepted else ""
    tool = f" ({finding.tool})" if finding.tool != OURS else ""
    head = f"{finding.place}: {finding.severity}{accepted} {finding.rule}{tool}"
    field = f" {finding.place.field}:" if finding.place and finding.place.field else ""
    lines = [f"{head}:{field} {finding.message}"]
    lines += [f"  resource: {finding.resource}"] if finding.resource else []
    lines += [f"  remedy: {finding.remedy}"] if finding.remedy else []
    lines += [f"  accepted: {finding.accepted}"] if finding.accepted else []
    lines += [f"  source: {finding.source}"] if finding.source else []
    return "\n".join(lines)

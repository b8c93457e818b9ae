"""A finding in lines, for people."""

from trainshed.findings import Finding


def finding_text(finding: Finding) -> str:
    """Return a finding in lines: where and what, then what to do."""
    place = finding.place
    accepted = " (accepted)" if finding.accepted else ""
    tool = "" if finding.tool == "trainshed" else f" ({finding.tool})"
    field = f" {place.field}:" if place and place.field else ""
    head = f"{place}: {finding.severity}{accepted} {finding.rule}{tool}:{field} {finding.message}"
    about = {
        "resource": finding.resource,
        "remedy": finding.remedy,
        "accepted": finding.accepted,
        "source": finding.source,
    }
    return "\n".join([head, *(f"  {name}: {text}" for name, text in about.items() if text)])

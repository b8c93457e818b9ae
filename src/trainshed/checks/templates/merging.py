"""One report from what several tools found."""

from collections.abc import Iterable, Mapping

from trainshed.checks.templates.accepted import Owner
from trainshed.checks.templates.model import Assembly
from trainshed.checks.templates.places import located
from trainshed.findings import Finding
from trainshed.findings.tools import ToolRun


def merged(
    runs: Iterable[ToolRun], assembly: Assembly, owners: Mapping[str, Owner]
) -> tuple[Finding, ...]:
    """Return what tools found: each once, at its place.

    Args:
        runs: the tools, and whether each ran.
        assembly: what they judged.
        owners: what each stack follows from.
    """
    findings: list[Finding] = []
    seen: set[tuple[str, str]] = set()
    for run in runs:
        found = [located(each, run.tool, assembly, owners) for each in run.findings]
        # CDK's own checks and cfn-lint share rules: what both found is said once.
        findings += [each for each in found if (each.rule, str(each.resource)) not in seen]
        seen |= {(each.rule, str(each.resource)) for each in found}
    return tuple(findings)

"""One report from what several tools found."""

from collections.abc import Mapping, Sequence

from trainshed.checks.judging import as_owner_says, finding_of
from trainshed.checks.rule import all_rules
from trainshed.checks.rules.findings import UNUSED, unused_of_other_tools
from trainshed.checks.templates.accepted import Owner
from trainshed.checks.templates.model import Assembly, State, ToolRun
from trainshed.checks.templates.places import located
from trainshed.findings import Finding
from trainshed.plan import ClusterPlan


def merged(
    runs: Sequence[ToolRun],
    assembly: Assembly,
    plans: Sequence[ClusterPlan],
    owners: Mapping[str, Owner],
) -> tuple[Finding, ...]:
    """Return what tools found: each once, at its place, as the owner of the cluster says.

    Args:
        runs: the tools, and what came of each.
        assembly: what they judged.
        plans: the clusters.
        owners: what each stack follows from.
    """
    findings: list[Finding] = []
    seen: set[tuple[str, str]] = set()
    for run in runs:
        found = [located(each, run.tool, assembly, owners) for each in run.findings]
        # CDK's own checks and cfn-lint share rules: what both found is said once.
        findings += [each for each in found if (each.rule, str(each.resource)) not in seen]
        seen |= {(each.rule, str(each.resource)) for each in found}
    ran = {run.tool for run in runs if run.state is State.RAN}
    rules_found = {rule for rule, _ in seen}
    for plan in plans:
        unused = unused_of_other_tools(plan.findings, ran, rules_found)
        findings += [finding_of(plan.where, all_rules()[UNUSED], each) for each in unused]
    judged: list[Finding] = []
    for plan in plans:
        mine = [each for each in findings if _file(each) == plan.where.file]
        judged += as_owner_says(plan.findings, mine)
    files = {plan.where.file for plan in plans}
    return (*judged, *(each for each in findings if _file(each) not in files))


def _file(finding: Finding) -> str:
    return finding.place.file if finding.place else ""

"""Findings in lines, for people."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from trainshed.checks.rule_ids import OURS
from trainshed.checks.templates.model import State, ToolRun
from trainshed.findings import Finding, Severity


def finding_text(finding: Finding) -> str:
    """Return a finding in lines: where and what, then what to do."""
    place = finding.place
    accepted = " (accepted)" if finding.accepted else ""
    rule = f"{finding.rule}{_of(finding.tool)}"
    field = f" {place.field}:" if place and place.field else ""
    about = {
        "resource": finding.resource,
        "remedy": finding.remedy,
        "accepted": finding.accepted,
        "source": finding.source,
    }
    return "\n".join(
        [
            f"{place}: {finding.severity}{accepted} {rule}:{field} {finding.message}",
            *(f"  {name}: {text}" for name, text in about.items() if text),
        ]
    )


def accepted_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Say what is accepted, with how often: a line for each rule and reason."""

    def what(finding: Finding) -> tuple[str, str, str]:
        return finding.tool, finding.rule, finding.accepted or ""

    accepted = sorted((each for each in findings if each.accepted), key=what)
    for (tool, rule, reason), found in groupby(accepted, key=what):
        group = list(found)
        files = {each.place.file for each in group if each.place}
        where = f"{files.pop()}: " if len(files) == 1 else ""
        often = f", {len(group)} times" if len(group) > 1 else ""
        yield f"{where}accepted {rule}{_of(tool)}{often}: {reason}"


def summary(findings: Iterable[Finding], runs: Iterable[ToolRun]) -> str:
    """Count findings in one line, and name the tools that did not run, or failed."""
    findings, runs = tuple(findings), tuple(runs)
    open_ones = [finding.severity for finding in findings if not finding.accepted]
    errors, warnings, infos = (open_ones.count(severity) for severity in Severity)
    counts = [
        _count(errors, "error"),
        _count(warnings, "warning"),
        *([f"{infos} info"] if infos else []),
        f"{len(findings) - len(open_ones)} accepted",
    ]
    parts = [", ".join(counts)]
    if failed := [run.tool for run in runs if run.state is State.FAILED]:
        parts.append(f"failed: {', '.join(failed)}")
    idle = [run for run in runs if run.state is State.NOT_RUN]
    for reason, group in groupby(idle, key=lambda run: run.reason):
        parts.append(f"not run: {', '.join(run.tool for run in group)} ({reason})")
    return "; ".join(parts)


def _of(tool: str) -> str:
    return "" if tool == OURS else f" ({tool})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

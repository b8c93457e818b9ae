"""Findings in lines, for people."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from trainshed.findings import Finding, Severity
from trainshed.findings.tools import OURS, State, ToolRun

# A rule that is accepted for more reasons than these gets one line, so that the list stays short.
_REASONS = 3


def finding_lines(finding: Finding) -> Iterator[str]:
    """Yield a finding in lines: where and what, then what to do."""
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
    yield f"{place}: {finding.severity}{accepted} {rule}:{field} {finding.message}"
    for name, text in about.items():
        if text and name == "remedy":
            # It may have commands to copy, each in a line of its own.
            yield from f"  {name}: {text}".replace("\n", "\n  ").split("\n")
        elif text:
            yield f"  {name}: {text}"


def accepted_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Say what is accepted, with how often: a line for each rule, with its reasons if few."""

    def what(finding: Finding) -> tuple[str, str]:
        return finding.tool, finding.rule

    def reason(finding: Finding) -> str:
        return finding.accepted or ""

    accepted = sorted((each for each in findings if each.accepted), key=what)
    for _, found in groupby(accepted, key=what):
        group = sorted(found, key=reason)
        reasons = {each.accepted for each in group}
        if len(reasons) > _REASONS:
            yield _accepted(group, f"{len(reasons)} reasons, which --json shows")
            continue
        for why, same in groupby(group, key=reason):
            yield _accepted(list(same), why)


def _accepted(group: list[Finding], why: str) -> str:
    files = {each.place.file for each in group if each.place}
    where = f"{files.pop()}: " if len(files) == 1 else ""
    often = f", {len(group)} times" if len(group) > 1 else ""
    return f"{where}accepted {group[0].rule}{_of(group[0].tool)}{often}: {why}"


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

"""What `trainshed check`, `preflight` and `lint` print: findings, and which tools ran."""

from collections.abc import Sequence
from dataclasses import asdict

import typer

from trainshed.cli.output import print_json, say
from trainshed.findings import Finding
from trainshed.findings.text import accepted_lines, finding_lines, summary
from trainshed.findings.tools import State, ToolRun


def print_report(findings: Sequence[Finding], runs: Sequence[ToolRun], as_json: bool) -> None:
    """Print findings and which tools ran, as text or as JSON."""
    if as_json:
        tools = [
            {"tool": run.tool, "state": run.state, "reason": run.reason, "seconds": run.seconds}
            for run in runs
        ]
        print_json({"findings": [*map(asdict, findings)], "tools": tools})
        return
    # First, so that what is to be done stands at the end.
    say(*accepted_lines(findings))
    for finding in findings:
        if not finding.accepted:
            say(*finding_lines(finding))
    for run in runs:
        if run.state is State.FAILED:
            # The app of a project says it in several lines.
            say(*f"error: {run.tool} failed: {run.reason}".split("\n"))
    say(summary(findings, runs))


def exit_if_failed(findings: Sequence[Finding], runs: Sequence[ToolRun]) -> None:
    """Exit with 1 when a finding fails the check, or a tool failed."""
    failed = any(run.state is State.FAILED for run in runs)
    if failed or any(finding.fails for finding in findings):
        raise typer.Exit(1)

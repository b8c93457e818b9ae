"""Findings as SARIF 2.1.0, which GitHub and editors show at the line of the cluster file.

Each tool has a run of its own. One that did not run has none, because GitHub would take its alerts
for solved. The standard:
https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.metadata import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trainshed import __version__
from trainshed.findings import Finding, Severity
from trainshed.findings.rule import Rule, all_rules
from trainshed.findings.tools import OURS, State, ToolRun

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_ROOT = "%SRCROOT%"
_HOMES = {
    "cdk": "https://github.com/aws/aws-cdk",
    "cdk-nag": "https://github.com/cdklabs/cdk-nag",
    "cdk-preflight": "https://github.com/badmintoncryer/cdk-preflight",
    "cfn-lint": "https://github.com/aws-cloudformation/cfn-lint",
    "checkov": "https://www.checkov.io",
}
Json = dict[str, Any]


def sarif_log(
    findings: Sequence[Finding],
    runs: Iterable[ToolRun],
    folder: Path,
) -> Json:
    """Return a SARIF log.

    Args:
        findings: of our own rules and of other tools.
        runs: the other tools, and whether each ran.
        folder: where the command runs, which the files of the findings are relative to.
    """
    runs = tuple(runs)
    root = _source_root(folder.resolve())
    ran = [run.tool for run in runs if run.state is State.RAN]
    found = [finding.tool for finding in findings]
    notifications = [_notification(run) for run in runs if run.state is not State.RAN]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            _run(
                tool,
                [finding for finding in findings if finding.tool == tool],
                notifications if tool == OURS else [],
                root,
            )
            for tool in dict.fromkeys((OURS, *ran, *found))
        ],
    }


def _run(
    tool: str,
    findings: list[Finding],
    notifications: list[Json],
    root: Path,
) -> Json:
    ids = sorted({finding.rule for finding in findings})
    driver: Json = {"name": tool, "rules": [_rule(each, findings) for each in ids]}
    if tool == OURS:
        driver["semanticVersion"] = __version__
    if home := _address("Source") if tool == OURS else _HOMES.get(tool):
        driver["informationUri"] = home
    failed = any(note["level"] == "error" for note in notifications)
    return {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "invocations": [
            {"executionSuccessful": not failed, "toolExecutionNotifications": notifications}
        ],
        "results": [_result(finding, ids.index(finding.rule), root) for finding in findings],
    }


def _notification(run: ToolRun) -> Json:
    """Say that a tool did not run, or failed."""
    return {
        "level": "error" if run.state is State.FAILED else "warning",
        "message": {"text": f"{run.tool}: {run.state}: {run.reason}"},
        "descriptor": {"id": f"{run.tool}-{run.state.replace(' ', '-')}"},
    }


def _rule(rule_id: str, findings: list[Finding]) -> Json:
    if rule := all_rules().get(rule_id):
        return _own_rule(rule)
    first = next(finding for finding in findings if finding.rule == rule_id)
    described: Json = {"id": rule_id, "shortDescription": {"text": f"{first.tool} {rule_id}"}}
    return described | ({"helpUri": first.source} if first.source else {})


def _own_rule(rule: Rule) -> Json:
    sources = "\n".join(f"- {source}" for source in rule.sources)
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": " ".join(rule.why.split())},
        "help": {"text": f"{rule.why}\n\n{sources}", "markdown": f"{rule.why}\n\n{sources}"},
        "helpUri": _page(rule),
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _page(rule: Rule) -> str:
    """Return the rule's page on the site, which only a release knows; else its source."""
    if site := _address("Documentation"):
        return f"{site}docs/rules/{rule.id}/"
    return rule.sources[0]


def _address(name: str) -> str | None:
    """Return an address of the project, which only a release knows."""
    for entry in metadata("trainshed").get_all("Project-URL") or ():
        label, _, address = entry.partition(", ")
        if label == name:
            return str(address)
    return None


def _result(finding: Finding, index: int, root: Path) -> Json:
    said = "; ".join(filter(None, (finding.message, finding.remedy)))
    result: Json = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": said},
        "locations": [_location(finding, root)],
        # GitHub takes what its own action would compute from the line, and so would merge findings
        # of one rule on one line.
        "partialFingerprints": {"primaryLocationLineHash": f"{_fingerprint(finding, root)}:1"},
    }
    if finding.accepted:
        result["suppressions"] = [{"kind": "external", "justification": finding.accepted}]
    return result


def _location(finding: Finding, root: Path) -> Json:
    place = finding.place
    assert place is not None, "a finding of check stands in a file"
    uri = _uri(place.file, root)
    base = {} if uri.startswith("file:") else {"uriBaseId": _ROOT}
    physical: Json = {"artifactLocation": {"uri": uri, **base}}
    if place.line:
        physical["region"] = {"startLine": place.line, "startColumn": place.column or 1}
    location: Json = {"physicalLocation": physical}
    names = [("resource", finding.resource), ("member", place.field)]
    logical = [{"fullyQualifiedName": name, "kind": kind} for kind, name in names if name]
    return location | ({"logicalLocations": logical} if logical else {})


def _fingerprint(finding: Finding, root: Path) -> str:
    """Name a finding by what it is about, wherever its line is."""
    place = finding.place
    what = (
        finding.tool,
        finding.rule,
        _uri(place.file, root) if place else "",
        place.field if place else "",
        finding.resource or "",
        finding.message,
    )
    return sha256("\0".join(what).encode()).hexdigest()[:32]


def _uri(file: str, root: Path) -> str:
    """Return a file as a part of the repository's address; as it is when outside."""
    path = Path(file).resolve()
    if path.is_relative_to(root):
        return quote(path.relative_to(root).as_posix())
    return path.as_uri()


def _source_root(folder: Path) -> Path:
    """Return the root of the repository around a folder, or the folder without one."""
    around = (folder, *folder.parents)
    return next((parent for parent in around if (parent / ".git").exists()), folder)

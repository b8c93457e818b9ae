"""Read what CDK's validation of an app found: cdk-preflight, cdk-nag, and CDK's own checks.

Form of the report [S, aws-cdk-lib 2.275 core/lib/validation/private/report.js]: a plugin that found
nothing is not in it, and one that could not judge has no violations and an error in its metadata.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainshed.checks.templates.asking import JUDGED_BY
from trainshed.checks.templates.model import Assembly
from trainshed.files import LARGEST_MADE, read_text
from trainshed.findings import Severity
from trainshed.findings.tools import State, TemplateFinding, ToolRun

REPORT = "validation-report.json"
CDK, NAG, PREFLIGHT = "cdk", "cdk-nag", "cdk-preflight"
TOOLS = (PREFLIGHT, NAG, CDK)
# Names of plugins; whatever else stands there is a pack of cdk-nag's.
_TOOLS = {
    "CloudFormation Validate": CDK,
    "Construct Annotations": CDK,
    PREFLIGHT: PREFLIGHT,
}
_SEVERITIES = {
    "fatal": Severity.ERROR,
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
}
_NAMESPACE = "Annotation::"
_ACKNOWLEDGED = "aws:cdk:acknowledged-rules"
# What cdk-nag calls the rules of its packs.
_NAG_PACKS = ("AwsSolutions-", "HIPAA.Security-", "NIST.800.53.R", "PCI.DSS.321-", "Serverless-")
_NAG_RULES = "https://github.com/cdklabs/cdk-nag/blob/main/RULES.md"
_PREFLIGHT_RULES = "https://github.com/badmintoncryer/cdk-preflight#bundled-rules"


def read_validation(assembly: Assembly) -> tuple[ToolRun, ...]:
    """Return what each tool found that judges in a synthesis."""
    file = assembly.folder / REPORT
    if not file.is_file():
        reason = "the synthesis wrote no validation report; is CDK's validation switched off?"
        return tuple(ToolRun(tool=tool, state=State.FAILED, reason=reason) for tool in TOOLS)
    reports = json.loads(read_text(file, LARGEST_MADE))["pluginReports"]
    metadata = [entry for path in _metadata_files(assembly) for entry in _entries(path)]
    judges = {
        judge.partition(" ")[0] for _, kind, data in metadata if kind == JUDGED_BY for judge in data
    }
    return tuple(_run(tool, reports, metadata, judges | {CDK}, assembly) for tool in TOOLS)


Entry = tuple[str, str, Any]


def _run(
    tool: str,
    reports: list[Mapping[str, Any]],
    metadata: list[Entry],
    judges: set[str],
    assembly: Assembly,
) -> ToolRun:
    mine = [report for report in reports if _TOOLS.get(report["pluginName"], NAG) == tool]
    findings = [finding for report in mine for finding in _findings(report, assembly)]
    if tool == NAG:
        findings += _acknowledged(metadata, assembly)
    # A plugin may be in the app twice: cdk-nag is, where the app has it, too.
    found = tuple(dict.fromkeys(findings))
    for report in mine:
        if error := (report.get("metadata") or {}).get("error"):
            return ToolRun(tool=tool, state=State.FAILED, reason=str(error), findings=found)
    if tool not in judges:
        reason = "the app does not run it: add the stacks of its clusters with add_fleet"
        return ToolRun(tool=tool, state=State.NOT_RUN, reason=reason, findings=found)
    return ToolRun(tool=tool, findings=found)


def _findings(report: Mapping[str, Any], assembly: Assembly) -> Iterator[TemplateFinding]:
    tool = _TOOLS.get(report["pluginName"], NAG)
    for violation in (*report["violations"], *(report.get("suppressedViolations") or ())):
        rule = violation["ruleName"].removeprefix(_NAMESPACE)
        # Annotations of our own rules: those are judged without the app.
        if rule.startswith("TS-"):
            continue
        rule, detail = _base(rule)
        accepted = violation.get("reason") or "acknowledged in the app's code, without a reason"
        for construct in violation["violatingConstructs"]:
            resource = construct.get("cloudFormationResource") or {}
            properties = ", ".join(resource.get("propertyPaths", ()))
            message = violation["description"].rstrip(".")
            if properties and tool == PREFLIGHT:
                message = f"{properties}: {message}"
            yield TemplateFinding(
                rule=rule,
                severity=_SEVERITIES.get(violation["severity"], Severity.INFO),
                message=message + (f" ({detail})" if detail else ""),
                remedy=violation.get("suggestedFix") or "",
                source=_source(tool, violation),
                stack=assembly.stack_around(construct["constructPath"]),
                path=construct["constructPath"],
                accepted=accepted if "acknowledgedId" in violation else None,
            )


def _acknowledged(metadata: list[Entry], assembly: Assembly) -> Iterator[TemplateFinding]:
    """Return what the code accepts of cdk-nag's findings: cdk-nag leaves that out of its report."""
    for path, kind, data in metadata:
        for acknowledged, reason in data.items() if kind == _ACKNOWLEDGED else ():
            rule, detail = _base(acknowledged.removeprefix(_NAMESPACE))
            if rule.startswith(_NAG_PACKS):
                yield TemplateFinding(
                    rule=rule,
                    severity=Severity.ERROR,
                    message=f"acknowledged in the app's code{f' ({detail})' if detail else ''}",
                    source=_NAG_RULES,
                    stack=assembly.stack_around(path),
                    path=path,
                    accepted=reason or "acknowledged without a reason",
                )


def _base(rule: str) -> tuple[str, str]:
    """Part cdk-nag's `AwsSolutions-IAM5[Resource::*]` into the rule and what it is about."""
    base, _, detail = rule.partition("[")
    return base, detail.removesuffix("]")


def _source(tool: str, violation: Mapping[str, Any]) -> str | None:
    given = (violation.get("ruleMetadata") or {}).get("DocumentationUrl")
    return given or {NAG: _NAG_RULES, PREFLIGHT: _PREFLIGHT_RULES}.get(tool)


def _metadata_files(assembly: Assembly) -> list[Path]:
    return [
        file
        for stack in assembly.stacks.values()
        if (file := Path(str(stack.file).replace(".template.json", ".metadata.json"))).is_file()
    ]


def _entries(file: Path) -> Iterator[Entry]:
    for path, entries in json.loads(read_text(file, LARGEST_MADE)).items():
        for entry in entries:
            yield path.removeprefix("/"), entry["type"], entry.get("data")

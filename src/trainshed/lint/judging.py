"""Apply the rules to files that are not ours."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from trainshed.documents.problems import Where
from trainshed.findings import Finding, Over, Place, Severity
from trainshed.findings.acceptance import accept
from trainshed.findings.rule import Rule, checks_of, rule_called
from trainshed.findings.run import finding_of
from trainshed.lint.cases import where_it_holds
from trainshed.lint.model import FileKind, LintedFile, Unknown
from trainshed.lint.read import NotDecided, reading
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import UnreadableFile, parse_content, read_content
from trainshed.spec.findings import FindingsFile

S = TypeVar("S")
_COMMAND = "lint"
_ORDER = tuple(Severity)
_EXAMPLES = {
    FileKind.CLOUDFORMATION: "template.yaml",
    FileKind.EKSCTL: "cluster.yaml",
    FileKind.PARALLELCLUSTER: "config.yaml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """What the rules find in some files.

    Attributes:
        findings: file by file, the most severe first; with acceptances, the most severe of all.
        unreadable: the files that cannot be judged, each with the reason.
    """

    findings: tuple[Finding, ...]
    unreadable: tuple[UnreadableFile, ...]


def lint_files(paths: Sequence[Path], stated: FindingsFile | None = None) -> LintReport:
    """Judge files, each by itself.

    Args:
        paths: the files.
        stated: which findings are accepted; by default none.
    """
    findings: list[Finding] = []
    unreadable: list[UnreadableFile] = []
    for path in paths:
        try:
            findings += lint_documents(read_documents(read_content(path)))
        except RecursionError:
            unreadable.append(UnreadableFile(f"{path}: is nested too deeply"))
        except UnreadableFile as error:
            unreadable.append(error)
    if stated:
        applied = {check.rule_id for check in checks_of(_COMMAND)}
        said = stated.findings
        findings = sorted(
            accept(said, stated.where, findings, applied=applied), key=lambda each: each.rank
        )
    return LintReport(findings=tuple(findings), unreadable=tuple(unreadable))


def lint_documents(documents: Sequence[LintedFile]) -> tuple[Finding, ...]:
    """Return what the rules find in one file, the most severe first.

    Args:
        documents: the file, in each of its cases.
    """
    found: dict[Finding, list[int]] = {}
    # One value may keep many rules from judging: that is one finding, which names them.
    undecided: dict[Unknown, _Undecided] = {}
    checks = sorted(checks_of(_COMMAND), key=lambda check: check.rule_id)
    for number, document in enumerate(documents):
        for check in checks:
            rule = rule_called(check.rule_id)
            with reading() as defaults:
                for part in check.parts(document):
                    try:
                        for violation in check.find(part, document):
                            finding = finding_of(rule, violation, document.where)
                            message = finding.message + _by_default(defaults)
                            holds = found.setdefault(replace(finding, message=message), [])
                            holds.append(number)
                    except NotDecided as error:
                        open_ = undecided.setdefault(error.unknown, _Undecided(rules={}, cases=[]))
                        open_.rules[rule.id] = rule
                        open_.cases.append(number)
                    defaults.clear()
    for unknown, open_ in undecided.items():
        found[_not_decided(documents[0].where, unknown, [*open_.rules.values()])] = open_.cases
    cases = [dict(document.case) for document in documents]
    findings = [
        replace(finding, message=finding.message + where_it_holds(holds, cases))
        for finding, holds in found.items()
    ]
    return tuple(sorted(findings, key=_order))


def in_files(parts: Callable[[LintedFile], Iterable[S]]) -> Over[S, LintedFile]:
    """Return what rules are applied to: some parts of each file."""
    return Over(
        command=_COMMAND,
        parts=parts,
        examples={kind: _example_judge(file) for kind, file in _EXAMPLES.items()},
    )


def _example_judge(file: str) -> Callable[[str], Sequence[Finding]]:
    return lambda text: lint_documents(read_documents(parse_content(text, file)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Undecided:
    """The rules that need a value which the file does not decide, and the cases in which."""

    rules: dict[str, Rule]
    cases: list[int]


def _order(finding: Finding) -> tuple[int, int, str]:
    line = finding.place.line if finding.place else None
    return _ORDER.index(finding.severity), line or 0, finding.rule


def _not_decided(where: Where, unknown: Unknown, rules: Sequence[Rule]) -> Finding:
    others = f" (for {', '.join(rule.id for rule in rules)})" if len(rules) > 1 else ""
    return Finding(
        rule=rules[0].id,
        severity=Severity.INFO,
        message=f"not decided: {unknown.why}{others}",
        remedy="",
        place=Place.of(where, unknown.path),
        source=rules[0].sources[0],
    )


def _by_default(names: Iterable[str]) -> str:
    """Name the parameters whose defaults a finding rests on: a deployment may give others."""
    names = [*names]
    if not names:
        return ""
    plural = "s" if len(names) > 1 else ""
    return f" (by the default{plural} of parameter{plural} {', '.join(names)})"

"""Apply the rules to files that are not ours."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainshed.documents.problems import Path as FieldPath
from trainshed.documents.problems import Where
from trainshed.findings import Finding, Place, Severity
from trainshed.lint.cases import where_it_holds
from trainshed.lint.model import Document, Unknown
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import UnreadableFile, read_content
from trainshed.lint.rule import LintRule, Violation, lint_rules

_ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """What the rules find in some files.

    Attributes:
        findings: file by file, the most severe first.
        unreadable: the files that cannot be judged, each with the reason.
    """

    findings: tuple[Finding, ...]
    unreadable: tuple[UnreadableFile, ...]


def lint_files(paths: Iterable[Path]) -> LintReport:
    """Judge files, each by itself."""
    findings: list[Finding] = []
    unreadable: list[UnreadableFile] = []
    for path in paths:
        try:
            findings += lint_documents(read_documents(read_content(path)))
        except RecursionError:
            unreadable.append(UnreadableFile(f"{path}: is nested too deeply"))
        except UnreadableFile as error:
            unreadable.append(error)
    return LintReport(findings=tuple(findings), unreadable=tuple(unreadable))


def lint_documents(documents: Sequence[Document]) -> tuple[Finding, ...]:
    """Return what the rules find in one file, the most severe first.

    Args:
        documents: the file, in each of its cases.
    """
    found: dict[Finding, list[int]] = {}
    # One value may keep many rules from judging: that is one finding, which names them.
    undecided: dict[Unknown, _Undecided] = {}
    for number, document in enumerate(documents):
        for name, rule in lint_rules().items():
            for each in rule.check(document):
                if isinstance(each, Unknown):
                    open_ = undecided.setdefault(each, _Undecided(rules={}, cases=[]))
                    open_.rules[name] = rule
                    open_.cases.append(number)
                else:
                    found.setdefault(_finding(document.where, rule, each), []).append(number)
    for unknown, open_ in undecided.items():
        found[_not_decided(documents[0].where, unknown, [*open_.rules.values()])] = open_.cases
    cases = [dict(document.case) for document in documents]
    findings = [
        replace(finding, message=finding.message + where_it_holds(holds, cases))
        for finding, holds in found.items()
    ]
    return tuple(sorted(findings, key=_order))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Undecided:
    """The rules that need a value which the file does not decide, and the cases in which."""

    rules: dict[str, LintRule]
    cases: list[int]


def _order(finding: Finding) -> tuple[int, int, str]:
    line = finding.place.line if finding.place else None
    return _ORDER.index(finding.severity), line or 0, finding.rule


def _not_decided(where: Where, unknown: Unknown, rules: Sequence[LintRule]) -> Finding:
    first = rules[0].facts
    others = f" (for {', '.join(rule.facts.id for rule in rules)})" if len(rules) > 1 else ""
    return Finding(
        rule=first.id,
        severity=Severity.INFO,
        message=f"not decided: {unknown.why}{others}",
        remedy="",
        place=_place(where, unknown.path),
        source=first.sources[0],
    )


def _finding(where: Where, rule: LintRule, found: Violation) -> Finding:
    return Finding(
        rule=rule.facts.id,
        severity=rule.facts.severity,
        message=found.message + _by_default(found),
        remedy=found.remedy,
        place=_place(where, found.path),
        source=rule.facts.sources[0],
    )


def _by_default(found: Violation) -> str:
    """Name the parameters whose defaults a finding rests on: a deployment may give others."""
    names = dict.fromkeys(name for fact in found.rests_on if fact for name in fact.defaults)
    if not names:
        return ""
    plural = "s" if len(names) > 1 else ""
    return f" (by the default{plural} of parameter{plural} {', '.join(names)})"


def _place(where: Where, path: FieldPath) -> Place:
    position = where.position(path)
    return Place(
        file=where.file,
        line=position.line if position else None,
        column=position.column if position else None,
        field=".".join(map(str, path)),
    )

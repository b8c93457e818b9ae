"""The committed pages of the rules: those of the rules, each with what its example gives."""

from pathlib import Path

import pytest

from trainshed.checks import Rule, all_rules
from trainshed.checks.pages import INDEX, example_findings, write_pages
from trainshed.checks.rule import RuleFacts
from trainshed.findings import Severity
from trainshed.lint import pages as lint_pages
from trainshed.lint.model import FileKind
from trainshed.lint.pages import rule_pages
from trainshed.lint.rule import LintRule, lint_rules

ROOT = Path(__file__).parents[2]
PAGES = rule_pages()


def test_the_committed_pages_are_those_of_the_rules_and_no_other() -> None:
    committed = {
        path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs/rules").iterdir()
    }

    assert committed.keys() == PAGES.keys(), "run: make schema"
    assert [name for name in PAGES if committed[name] != PAGES[name]] == [], "run: make schema"


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.id)
def test_a_page_has_all_that_its_rule_says(rule: Rule) -> None:
    page = PAGES[f"{rule.id}.md"]

    assert page.startswith(f"# {rule.id}: {rule.title}\n")
    assert f"**{rule.severity.capitalize()}**; {rule.basis}" in page
    assert rule.why in page
    assert f"```yaml\n{rule.example}```" in page
    for finding in example_findings(rule):
        assert finding.message in page
        assert f"  remedy: {finding.remedy}\n" in page
    assert f"  accept: {{{rule.id}: " in page
    assert f"{{{rule.id}: {rule.severity}}}" not in page
    assert all(f"- <{source}>\n" in page for source in rule.sources)


EXAMPLES = [
    pytest.param(rule, kind, id=f"{name}-{kind.name}")
    for name, rule in lint_rules().items()
    for kind in rule.examples
]


@pytest.mark.parametrize(("rule", "kind"), EXAMPLES)
def test_a_page_has_each_example_of_lint_and_what_it_finds(rule: LintRule, kind: FileKind) -> None:
    page = PAGES[f"{rule.facts.id}.md"]

    found = lint_pages.example_findings(rule, kind)

    assert found
    assert f"## The shortest {kind} that has it\n\n```yaml\n{rule.examples[kind]}```" in page
    assert all(finding.message in page for finding in found)


def test_a_page_of_lint_alone_has_all_that_its_rule_says() -> None:
    for name, rule in lint_rules().items():
        if name in all_rules():
            continue
        page, facts = PAGES[f"{name}.md"], rule.facts
        assert page.startswith(f"# {name}: {facts.title}\n")
        assert f"**{facts.severity.capitalize()}**; {facts.basis}" in page
        assert facts.why in page
        assert all(f"- <{source}>\n" in page for source in facts.sources)


def test_a_rule_of_both_commands_says_the_same_in_both() -> None:
    shared = lint_rules().keys() & all_rules().keys()

    assert "TS-LIF-001" in shared
    for name in shared:
        ours, theirs = all_rules()[name], lint_rules()[name].facts
        assert (ours.title, ours.severity, ours.why) == (theirs.title, theirs.severity, theirs.why)


def test_the_index_has_each_rule_once_with_its_severity_title_and_commands() -> None:
    rows = [line for line in PAGES[INDEX].splitlines() if line.startswith("| [")]
    facts: dict[str, RuleFacts] = {name: rule.facts for name, rule in lint_rules().items()}

    assert rows == [
        f"| [{name}]({name}.md) | {rule.severity} | {rule.title} | {_commands(name)} |"
        for name, rule in sorted((facts | all_rules()).items())
    ]
    assert {row.split(" | ")[1] for row in rows} <= set(Severity)


def _commands(name: str) -> str:
    return {
        (True, False): "check",
        (False, True): "lint",
        (True, True): "check, lint",
    }[name in all_rules(), name in lint_rules()]


def test_writing_removes_the_pages_of_rules_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "TS-OLD-001.md").write_text("# gone\n", encoding="utf-8")

    write_pages(PAGES, tmp_path)

    assert {path.name for path in tmp_path.iterdir()} == PAGES.keys()


def test_pages_are_in_no_navigation_but_their_index_is() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")

    assert "docs/rules/README.md" in settings
    assert "not_in_nav: |\n  /docs/rules/TS-*.md\n" in settings

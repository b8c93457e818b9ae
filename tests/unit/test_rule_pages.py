"""The committed pages of the rules: those of the rules, each with what its example gives."""

from pathlib import Path

import pytest

from trainshed.checks import Rule, all_rules
from trainshed.checks.pages import INDEX, example_findings, rule_pages, write_pages
from trainshed.findings import Severity

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


def test_the_index_has_each_rule_once_with_its_severity_and_title() -> None:
    rows = [line for line in PAGES[INDEX].splitlines() if line.startswith("| [")]

    assert rows == [
        f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.title} |"
        for rule in all_rules().values()
    ]
    assert {row.split(" | ")[1] for row in rows} <= set(Severity)


def test_writing_removes_the_pages_of_rules_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "TS-OLD-001.md").write_text("# gone\n", encoding="utf-8")

    write_pages(PAGES, tmp_path)

    assert {path.name for path in tmp_path.iterdir()} == PAGES.keys()


def test_pages_are_in_no_navigation_but_their_index_is() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")

    assert "docs/rules/README.md" in settings
    assert "not_in_nav: |\n  /docs/rules/TS-*.md\n" in settings

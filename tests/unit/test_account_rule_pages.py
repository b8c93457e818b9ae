"""The committed pages of the rules over an account."""

from pathlib import Path

import pytest

from trainshed.preflight import AccountRule, account_rules
from trainshed.preflight.pages import INDEX, account_rule_pages, write_pages

ROOT = Path(__file__).parents[2]
PAGES = account_rule_pages()


def test_the_committed_pages_are_those_of_the_rules_and_no_other() -> None:
    folder = ROOT / "docs/account-rules"
    committed = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}

    assert committed == PAGES, "run: make schema"


@pytest.mark.parametrize("rule", account_rules().values(), ids=lambda rule: rule.id)
def test_a_page_has_all_that_its_rule_says(rule: AccountRule) -> None:
    page = PAGES[f"{rule.id}.md"]

    assert page.startswith(f"# {rule.id}: {rule.title}\n")
    assert f"**{rule.severity.capitalize()}**; {rule.basis}" in page
    assert rule.why in page
    assert rule.when[1:] in page
    assert all(f"- `{action}`\n" in page for action in rule.actions)
    assert all(f"- <{source}>\n" in page for source in rule.sources)


def test_the_index_has_each_rule_once() -> None:
    rows = [line for line in PAGES[INDEX].splitlines() if line.startswith("| [")]

    assert rows == [
        f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.title} |"
        for rule in account_rules().values()
    ]


def test_writing_removes_the_pages_of_rules_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "TS-ACC-999.md").write_text("# gone\n", encoding="utf-8")

    write_pages(tmp_path)

    assert {path.name for path in tmp_path.iterdir()} == PAGES.keys()

"""The pages of the rules, and what `make docs` writes."""

import re
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from documented import left_out

from trainshed.checks import judge
from trainshed.findings import Rule, Severity
from trainshed.findings.pages import INDEX, example_findings, examples, rule_pages
from trainshed.findings.rule import all_rules
from trainshed.plan import ClusterPlan

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages() -> Mapping[str, str]:
    """All pages: what is found in their examples takes a second."""
    return rule_pages()


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.id)
def test_a_page_has_all_that_its_rule_says(pages: Mapping[str, str], rule: Rule) -> None:
    page = pages[f"{rule.id}.md"]

    assert page.startswith(f"# {rule.id}: {rule.title}\n")
    assert f"**{rule.severity.capitalize()}**" in page
    assert (f"; {rule.basis}." in page) is bool(rule.sources)
    assert bool(rule.basis) is bool(rule.sources)
    assert rule.why in page
    assert rule.when[1:] in page
    for check in rule.checks:
        assert all(f"- `{action}`\n" in page for action in check.actions)
        assert all(answer in page for answer in check.answers)
    assert f"{{{rule.id}: {rule.severity}}}" not in page
    assert all(f"- <{source}>\n" in page for source in rule.sources)


EXAMPLES = [
    pytest.param(rule, kind, id=f"{rule.id}-{kind}")
    for rule in all_rules().values()
    for kind in examples(rule)
]


@pytest.mark.parametrize(("rule", "kind"), EXAMPLES)
def test_a_page_has_each_example_and_what_it_finds(
    pages: Mapping[str, str], rule: Rule, kind: str
) -> None:
    page = pages[f"{rule.id}.md"]

    found = example_findings(rule, kind)

    assert found
    assert f"## The shortest {kind} that has it\n\n```yaml\n{examples(rule)[kind]}```" in page
    for finding in found:
        assert finding.severity is rule.severity
        assert finding.message in page
        assert f"  remedy: {finding.remedy}\n" in page or not finding.remedy
        if kind == "cluster file":
            assert finding.remedy
            assert finding.place
            assert finding.place.line


def test_a_rule_of_several_commands_is_one() -> None:
    assert all_rules()["TS-LIF-001"].commands == ("check", "lint")
    assert all_rules()["TS-GRP-001"].commands == ("lint",)
    assert all_rules()["TS-ACC-001"].commands == ("preflight",)
    assert all_rules()["TS-FND-001"].commands == ("check", "preflight", "lint")


def test_a_page_says_how_to_accept_what_a_cluster_file_may_accept(
    pages: Mapping[str, str], planned: Callable[[str], ClusterPlan]
) -> None:
    ids = all_rules().keys()
    accepted = "".join(f"    {rule}: because\n" for rule in ids)
    plan = planned(
        "name: Example\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
        f"findings:\n  accept:\n{accepted}"
    )

    told = {rule for rule in ids if f"  accept: {{{rule}: " in pages[f"{rule}.md"]}
    refused = {
        finding.place.field.rpartition(".")[2]
        for finding in judge(plan)
        if finding.rule == "TS-FND-001" and finding.place
    }

    assert refused == ids - told
    assert {"TS-ACC-001", "TS-ACC-020", "TS-FND-001", "TS-GRP-001", "TS-IMG-001"} <= told
    assert {"TS-COL-001", "TS-COL-012", "TS-JOB-002"} <= refused


@pytest.mark.parametrize(
    ("rule", "where"),
    [
        ("TS-NET-001", "In the cluster file:"),
        ("TS-ACC-020", "In the cluster file:"),
        ("TS-GRP-001", "For `trainshed lint` in the file that `--findings` names:"),
        (
            "TS-LIF-001",
            "In the cluster file, or for `trainshed lint` in the file that `--findings` names:",
        ),
    ],
)
def test_a_page_says_where_its_findings_are_accepted(
    pages: Mapping[str, str], rule: str, where: str
) -> None:
    assert f"\n\n{where}\n\n```yaml\nfindings:\n  accept: " in pages[f"{rule}.md"]


def test_the_index_has_each_rule_once_with_its_severity_title_and_commands(
    pages: Mapping[str, str],
) -> None:
    rows = [line for line in pages[INDEX].splitlines() if line.startswith("| [")]

    assert rows == [
        f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.title} "
        f"| {', '.join(rule.commands)} |"
        for rule in all_rules().values()
    ]
    assert {row.split(" | ")[1] for row in rows} <= set(Severity)


def test_the_site_shows_all_of_the_pages(pages: Mapping[str, str]) -> None:
    assert {name: left for name, text in pages.items() if (left := left_out(text))} == {}


def test_the_site_has_the_pages(
    pages: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = str(ROOT / "scripts/rule_pages.py")
    monkeypatch.setattr("sys.argv", [script, str(tmp_path / "docs/rules")])

    runpy.run_path(script, run_name="__main__")

    written = {path.name: path.read_text("utf-8") for path in tmp_path.rglob("*.md")}
    assert written == dict(pages)
    assert "scripts/rule_pages.py build/pages/docs/rules" in (ROOT / "Makefile").read_text("utf-8")


def test_pages_are_in_no_navigation_but_their_index_is() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")

    assert "docs/rules/README.md" in settings
    assert "not_in_nav: |\n  /docs/rules/TS-*.md\n" in settings


def test_no_page_has_two_sections_of_one_name(pages: Mapping[str, str]) -> None:
    twice = {
        name: headings
        for name, text in pages.items()
        if len(set(headings := re.findall(r"^## .*", text, re.MULTILINE))) < len(headings)
    }

    assert twice == {}

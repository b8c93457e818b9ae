"""The pages of the rules, and what `make docs` writes."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.checks import judge
from trainshed.findings import Rule, Severity
from trainshed.findings.pages import INDEX, example_findings, examples, rule_pages
from trainshed.findings.rule import all_rules
from trainshed.plan import ClusterPlan

ROOT = Path(__file__).parents[2]
PAGES = rule_pages()


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.id)
def test_a_page_has_all_that_its_rule_says(rule: Rule) -> None:
    page = PAGES[f"{rule.id}.md"]

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
def test_a_page_has_each_example_and_what_it_finds(rule: Rule, kind: str) -> None:
    page = PAGES[f"{rule.id}.md"]

    found = example_findings(rule, kind)

    assert found
    assert f"## The shortest {kind} that has it\n\n```yaml\n{examples(rule)[kind]}```" in page
    for finding in found:
        assert finding.message in page
        assert f"  remedy: {finding.remedy}\n" in page or not finding.remedy


def test_a_rule_of_several_commands_is_one() -> None:
    assert all_rules()["TS-LIF-001"].commands == ("check", "lint")
    assert all_rules()["TS-GRP-001"].commands == ("lint",)
    assert all_rules()["TS-ACC-001"].commands == ("preflight",)
    assert all_rules()["TS-FND-001"].commands == ("check", "preflight", "lint")


def test_a_page_says_how_to_accept_what_a_cluster_file_may_accept(
    planned: Callable[[str], ClusterPlan],
) -> None:
    ids = all_rules().keys()
    accepted = "".join(f"    {rule}: because\n" for rule in ids)
    plan = planned(
        "name: Example\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
        f"findings:\n  accept:\n{accepted}"
    )

    told = {rule for rule in ids if f"  accept: {{{rule}: " in PAGES[f"{rule}.md"]}
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
def test_a_page_says_where_its_findings_are_accepted(rule: str, where: str) -> None:
    assert f"\n\n{where}\n\n```yaml\nfindings:\n  accept: " in PAGES[f"{rule}.md"]


def test_the_index_has_each_rule_once_with_its_severity_title_and_commands() -> None:
    rows = [line for line in PAGES[INDEX].splitlines() if line.startswith("| [")]

    assert rows == [
        f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.title} "
        f"| {', '.join(rule.commands)} |"
        for rule in all_rules().values()
    ]
    assert {row.split(" | ")[1] for row in rows} <= set(Severity)


def test_the_site_has_the_pages(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, ROOT / "scripts/rule_pages.py", tmp_path / "docs/rules"], check=True
    )

    written = {path.name: path.read_text("utf-8") for path in tmp_path.rglob("*.md")}
    assert written == dict(PAGES)
    assert "scripts/rule_pages.py build/pages/docs/rules" in (ROOT / "Makefile").read_text("utf-8")


def test_pages_are_in_no_navigation_but_their_index_is() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")

    assert "docs/rules/README.md" in settings
    assert "not_in_nav: |\n  /docs/rules/TS-*.md\n" in settings

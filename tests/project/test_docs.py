"""What the documents say about the program is what the program does."""

import importlib
import re
from pathlib import Path

import pytest
import typer
from documented import left_out

from trainshed.cli import GROUPS
from trainshed.findings.rule import all_rules
from trainshed.orchestrators import Orchestrator, traits
from trainshed.plan import load_fleet

ROOT = Path(__file__).parents[2]
TEST = re.compile(r"`([\w/-]+\.py)::(test_\w+)`")
CODE = re.compile(r"TS-[A-Z]+-[0-9]{3}")
# Of `__all__`, what is a class.
EXPORT = re.compile(r'^    "([A-Z]\w+)",$', re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
SOURCES = [
    path
    for folder in ("src", "stacks", "constructs", "packer")
    for path in (ROOT / folder).rglob("*.py")
]


PAGES = {
    str(page.relative_to(ROOT)): page
    for page in (
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "embedded-aws/docs").rglob("*.md")),
    )
}


@pytest.mark.parametrize("page", PAGES)
def test_the_site_shows_all_of_a_page(page: str) -> None:
    assert left_out(PAGES[page].read_text(encoding="utf-8")) == []


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 9 * 1024


def test_each_construct_has_a_row_that_says_what_it_is_for() -> None:
    exported = (ROOT / "constructs/trainshed_constructs/__init__.py").read_text(encoding="utf-8")
    constructs = {name for name in EXPORT.findall(exported) if name != "ConstructError"}
    page = (ROOT / "docs/constructs.md").read_text(encoding="utf-8")

    assert constructs == set(ROW.findall(page))


def test_what_is_checked_names_rules_that_exist() -> None:
    page = (ROOT / "docs/check-coverage.md").read_text(encoding="utf-8")

    assert set(CODE.findall(page)) <= all_rules().keys()


def test_the_tests_that_pages_name_exist() -> None:
    named = {each for page in PAGES.values() for each in TEST.findall(page.read_text("utf-8"))}

    assert len(named) > 10
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text("utf-8"), f"{file}::{test}"


def test_every_code_of_a_finding_has_a_rule_and_no_other() -> None:
    named = {code for path in SOURCES for code in CODE.findall(path.read_text(encoding="utf-8"))}

    assert named == all_rules().keys()


@pytest.mark.parametrize(
    "page", ["docs/offline.md", "embedded-aws/src/embedded_aws/cli/commands.py"]
)
def test_a_deployment_by_offline_run_needs_no_terminal(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")

    commands = re.findall(
        r"(?:trainshed offline|embedded-aws) run -- "
        r"(sh -c '[^']*cdk deploy[^']*'|[^`\n]*cdk deploy[^`\n]*)",
        text,
    )

    assert commands
    assert [each for each in commands if "--require-approval never" not in each] == []


def advising() -> list[Path]:
    """What advises people: messages, help and pages."""
    programs = [path for folder in ("src", "packer") for path in (ROOT / folder).rglob("*.py")]
    return [*programs, *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]


def subcommands(group: str) -> set[str]:
    command = typer.main.get_command(importlib.import_module(f"trainshed.cli.{group}").app)
    return set(getattr(command, "commands", ()))


@pytest.mark.parametrize(
    "group",
    [
        name
        for name in GROUPS
        if name
        not in (
            "apply",
            "check",
            "comment",
            "cost",
            "estimate",
            "explain",
            "init",
            "lint",
            "orphans",
            "preflight",
            "rehearse",
            "review",
            "rule",
            "status",
            "teardown",
            "top",
            "up",
            "upgrade",
        )
    ],
)
def test_every_command_that_people_are_advised_to_run_exists(group: str) -> None:
    advised = {
        name
        for path in advising()
        for names in re.findall(
            rf"`?trainshed {group} ([a-z|]+)\b(?! is\b)", path.read_text(encoding="utf-8")
        )
        for name in names.split("|")
    }

    assert advised
    assert advised <= subcommands(group)


def test_every_page_that_messages_name_exists() -> None:
    pages = {
        page
        for path in (ROOT / "src").rglob("*.py")
        for page in re.findall(r"(?<!/)docs/[a-z-]+\.md", path.read_text(encoding="utf-8"))
    }

    assert pages
    assert [page for page in pages if not (ROOT / page).is_file()] == []


def test_the_page_on_first_boots_says_in_how_many_hours_failures_are_counted() -> None:
    [train] = load_fleet([ROOT / "clusters/train.yaml"]).clusters
    page = (ROOT / "docs/node-programs.md").read_text(encoding="utf-8")

    said = re.findall(r"(\d+) hours", page)

    assert said
    assert set(said) == {str(train.failed_boot_hours)}


@pytest.mark.parametrize(
    ("orchestrator", "nodes"), [(Orchestrator.BATCH, "AWS Batch"), (Orchestrator.EC2, "plain EC2")]
)
def test_the_page_on_networks_names_the_services_that_nodes_call(
    orchestrator: Orchestrator, nodes: str
) -> None:
    page = (ROOT / "docs/networks.md").read_text(encoding="utf-8")
    [services] = re.findall(rf"^\| {nodes} \| (.+?)\. Without", page, re.M)

    assert tuple(re.findall("`(.+?)`", services)) == traits(orchestrator).services

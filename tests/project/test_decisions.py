"""Every decision is a page of the usual form, and architecture.md lists each once."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))


def test_architecture_lists_every_decision_by_its_title() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    titles = {
        path.name: path.read_text(encoding="utf-8").splitlines()[0].partition(". ")[2]
        for path in PAGES
    }

    listed = re.findall(r"^- \[(.+)\]\(adr/(.+)\)$", text, re.M)

    assert PAGES
    assert [(file, title) for title, file in listed] == list(titles.items())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_decision_has_its_number_a_status_and_the_three_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    number = PAGES.index(path) + 1

    assert path.name.startswith(f"{number:04d}-")
    assert text.startswith(f"# {number}. ")
    assert re.search(r"^Status: (proposed|accepted|superseded by \d+)$", text, re.M)
    assert re.findall(r"^## (.+)$", text, re.M) == ["Context", "Decision", "Consequences"]

"""What the review says about changes, against what AWS makes of them by its documents."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from review_truth import Truth, is_right, page_lines, said, truths

from trainshed.review.model import RiskKind

PAGE = Path(__file__).parents[2] / "docs" / "review.md"


@pytest.fixture(scope="module")
def found() -> dict[str, set[str]]:
    return said()


@pytest.mark.parametrize("truth", truths(), ids=lambda truth: truth.name)
def test_the_review_is_right_except_where_the_table_says_why_not(
    found: Mapping[str, set[str]], truth: Truth
) -> None:
    assert is_right(truth, found) == (truth.wrong is None), found[truth.name]


def test_the_table_is_fit_to_judge_by() -> None:
    entries = truths()

    assert len({each.name for each in entries}) == len(entries) >= 120
    assert {each.danger for each in entries} == {None, *RiskKind}
    assert all(each.before != each.after for each in entries)
    assert all(each.aws and each.source.startswith("https://") for each in entries)
    harmless = sum(each.danger is None for each in entries)
    assert 0.45 <= harmless / len(entries) <= 0.55


def test_the_page_has_the_figures_and_what_is_wrong(found: Mapping[str, set[str]]) -> None:
    page = PAGE.read_text(encoding="utf-8")

    figures, wrong = page_lines(found)

    assert figures in page
    assert wrong in page

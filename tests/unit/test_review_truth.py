"""What the review says of changes, against what AWS makes of them by its documents."""

from collections.abc import Mapping

import pytest
from review_truth import Truth, said, truths


@pytest.fixture(scope="module")
def found() -> dict[str, set[str]]:
    return said()


@pytest.mark.parametrize("truth", truths(), ids=lambda truth: truth.name)
def test_the_review_is_right_except_where_the_table_says_why_not(
    found: Mapping[str, set[str]], truth: Truth
) -> None:
    kinds = found[truth.name]
    right = truth.danger in kinds if truth.danger else not kinds

    assert right == (truth.wrong is None), (kinds, truth.danger, truth.wrong)

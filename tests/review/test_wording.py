"""How reports word what they count."""

import pytest

from trainshed.review.wording import counted


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (1, "finding", "1 finding"),
        (2, "finding", "2 findings"),
        (0, "day", "0 days"),
        (1, "repository", "1 repository"),
        (1200, "repository", "1,200 repositories"),
    ],
)
def test_what_is_counted_is_worded_by_its_number(number: int, noun: str, words: str) -> None:
    assert counted(number, noun) == words

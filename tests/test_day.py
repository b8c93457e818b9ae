"""The time and the day by which dates are judged can be pinned."""

from datetime import UTC, date, datetime

import pytest

from trainshed.day import now, today
from trainshed.errors import TrainshedError


def test_it_is_today_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    before = datetime.now(UTC).date()

    assert before <= today() <= datetime.now(UTC).date()


def test_it_can_be_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1796083199")

    assert now() == datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)
    assert today() == date(2026, 11, 30)


@pytest.mark.parametrize("wrong", ["", "yesterday", "1" * 30])
def test_what_is_no_time_is_refused(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", wrong)

    with pytest.raises(TrainshedError, match=r"SOURCE_DATE_EPOCH is .* seconds since 1970"):
        today()

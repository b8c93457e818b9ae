"""In which window a job runs that is submitted at some time."""

from datetime import UTC, datetime, timedelta

import pytest

from trainshed.plan import Window
from trainshed.plan.job_window import job_window, window_notices


def at(day: int, hour: int = 11, minute: int = 30) -> datetime:
    return datetime(2026, 12, day, hour, minute, tzinfo=UTC)


def window(number: int, begins: datetime, ends: datetime, *, block: bool = True) -> Window:
    return Window(
        entry=number,
        reservation_id=f"cr-{number:08x}",
        is_block=block,
        begins_at=begins,
        ends_at=ends,
        ends_early=timedelta(minutes=30 if block else 0),
    )


FIRST, SECOND = window(0, at(1), at(8)), window(1, at(8), at(15))
CALENDAR = (FIRST, SECOND)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(at(1) - timedelta(hours=3), FIRST, id="before"),
        pytest.param(at(1), FIRST, id="at-its-start"),
        # EC2 ends the nodes of a block from 30 minutes before its end on.
        pytest.param(at(8, 10, 59), FIRST, id="shortly-before-its-nodes-go"),
        pytest.param(at(8, 11, 0), SECOND, id="when-its-nodes-go"),
        pytest.param(at(15, 11, 0), None, id="after-all"),
    ],
)
def test_a_job_begins_in_the_window_that_is_active_or_in_the_next(
    now: datetime, expected: Window | None
) -> None:
    assert job_window(CALENDAR, now) == expected


def test_of_windows_that_overlap_a_job_has_the_time_of_the_longer() -> None:
    longer = window(2, at(7), at(20))

    assert job_window((FIRST, longer), at(7)) == longer


def test_nodes_that_are_there_long_enough_need_no_words() -> None:
    assert window_notices(CALENDAR, FIRST, timedelta(hours=72), at(2)) == ()


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(hours=3), "3 hours"),
        (timedelta(minutes=90), "90 minutes"),
        (timedelta(seconds=5), "1 minute"),
        (timedelta(days=2, minutes=6), "48.1 hours"),
    ],
)
def test_it_says_when_the_next_nodes_come(before: timedelta, words: str) -> None:
    [notice] = window_notices(CALENDAR, FIRST, timedelta(hours=72), at(1) - before)

    assert notice == f"the next nodes come at 2026-12-01 11:30 UTC, in {words}: cr-00000000"


def test_it_warns_of_a_job_that_may_outlast_its_window() -> None:
    [first] = window_notices(CALENDAR, FIRST, timedelta(hours=72), at(6))
    _, last = window_notices(CALENDAR, SECOND, timedelta(hours=200), at(8, 11, 0))

    assert first == (
        "warning: the job may run 72 hours, and the nodes of cr-00000000 go at 2026-12-08 11:00 "
        "UTC, 47.5 hours after now; its next attempt waits for the window that begins at "
        "2026-12-08 11:30 UTC: write checkpoints, or give --timeout-hours"
    )
    assert "go at 2026-12-15 11:00 UTC, 167.5 hours after its start; no window follows" in last


@pytest.mark.parametrize("begins", [1, 7])
def test_an_attempt_has_the_nodes_of_a_window_that_is_active_longer(begins: int) -> None:
    longer = window(1, at(begins), at(20))

    [notice] = window_notices((FIRST, longer), FIRST, timedelta(hours=200), at(1))

    assert "167.5 hours after now; its next attempt has nodes of cr-00000001: write" in notice


def test_an_attempt_waits_for_no_window_that_is_over_then() -> None:
    within, third = window(1, at(2), at(3)), window(2, at(20), at(21))

    [notice] = window_notices((FIRST, within, third), FIRST, timedelta(hours=200), at(1))

    assert "waits for the window that begins at 2026-12-20 11:30 UTC" in notice


def test_nodes_of_a_reservation_stay_after_its_window() -> None:
    reservation = window(0, at(1), at(8), block=False)

    assert window_notices((reservation,), reservation, timedelta(hours=500), at(1)) == ()

"""What a cluster's outputs say about when its nodes are stopped."""

from collections.abc import Iterator
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo, reset_tzpath

import pytest

from trainshed.guard.outputs import EXPIRES_OUTPUT, HOURS_OUTPUT, IDLE_OUTPUT, START_OUTPUT, stopped
from trainshed.guard.stop_times import StopTimes, stop_times
from trainshed.guard.working_hours import WorkingHours, read_hours

HOURS = "mon,tue,wed,thu,fri 08:00-20:00 Europe/Berlin"
OUTPUTS = {
    EXPIRES_OUTPUT: "2026-12-31T18:00Z",
    HOURS_OUTPUT: HOURS,
    START_OUTPUT: "aws batch start",
}


def test_hours_are_read_as_they_are_written() -> None:
    hours = WorkingHours(days=("mon", "sun"), begins=time(8, 30), ends=time(20), zone="UTC")

    assert str(hours) == "mon,sun 08:30-20:00 UTC"
    assert read_hours(str(hours)) == hours


@pytest.mark.parametrize(
    ("now", "at", "words"),
    [
        # Friday evening; Berlin is an hour ahead.
        ("2026-11-27T18:59", None, ""),
        ("2026-11-27T19:00", "2026-11-27T19:00", "until 2026-11-30 08:00 Europe/Berlin"),
        ("2026-11-30T06:59", "2026-11-27T19:00", "until 2026-11-30 08:00 Europe/Berlin"),
        ("2026-11-30T07:00", None, ""),
        # In summer two hours.
        ("2026-07-01T06:00", None, ""),
        ("2026-12-31T18:00", "2026-12-31T18:00", "guard.expires of the cluster was 2026-12-31"),
    ],
)
def test_the_guard_stops_nodes_outside_of_hours_and_at_the_end(
    now: str, at: str | None, words: str
) -> None:
    found = stopped(OUTPUTS, datetime.fromisoformat(now).replace(tzinfo=UTC))

    assert (found is None) == (at is None)
    if found and at:
        assert found.at == datetime.fromisoformat(at).replace(tzinfo=UTC)
        assert words in found.reason
        assert ("unless somebody has started them" in found.reason) == ("hours" in found.reason)
        assert found.remedy.endswith("aws batch start")


@pytest.mark.parametrize(
    ("expires", "words", "remedy"),
    [
        # Their next begin, and a minute later.
        ("2026-11-30T07:00Z", "for good, as guard.expires is 2026-11-30 07:00 UTC", "postpone"),
        ("2026-11-30T07:01Z", "until 2026-11-30 08:00 Europe/Berlin", "wait"),
    ],
)
def test_nodes_do_not_come_back_where_the_cluster_expires_before_the_next_hours(
    expires: str, words: str, remedy: str
) -> None:
    found = stopped({**OUTPUTS, EXPIRES_OUTPUT: expires}, datetime(2026, 11, 28, tzinfo=UTC))

    assert found
    assert words in found.reason
    assert found.remedy.startswith(remedy)


@pytest.fixture
def system_without_time_zones() -> Iterator[None]:
    """A machine whose system has no database of time zones."""
    reset_tzpath(())
    ZoneInfo.clear_cache()
    yield
    reset_tzpath()


@pytest.mark.usefixtures("system_without_time_zones")
def test_time_zones_need_none_of_the_system() -> None:
    assert stopped(OUTPUTS, datetime(2026, 11, 28, tzinfo=UTC))


def test_hours_of_one_day_of_the_week_come_again_a_week_later() -> None:
    hours = read_hours("mon 08:00-20:00 UTC")
    evening, morning = datetime(2026, 11, 30, 20, tzinfo=UTC), datetime(2026, 11, 30, 7, tzinfo=UTC)

    assert hours.next_begin(evening) == datetime(2026, 12, 7, 8, tzinfo=UTC)
    assert hours.last_end(morning) == datetime(2026, 11, 23, 20, tzinfo=UTC)


def test_a_cluster_without_a_guard_is_not_stopped() -> None:
    assert stopped({"JobQueue": "queue"}, datetime.now(UTC)) is None


def test_outputs_say_when_nodes_are_stopped() -> None:
    assert stop_times({"JobQueue": "queue"}) == StopTimes()
    assert stop_times({**OUTPUTS, IDLE_OUTPUT: "60"}) == StopTimes(
        expires_at=datetime(2026, 12, 31, 18, tzinfo=UTC),
        working_hours=read_hours(HOURS),
        idle_minutes=60,
    )

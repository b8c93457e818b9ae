"""What is said of a job that the guard of its cluster may end."""

from datetime import UTC, datetime, timedelta

import pytest

from trainshed.guard.stop_times import StopTimes
from trainshed.guard.working_hours import read_hours
from trainshed.plan.job_stop import stop_notice

# A Monday.
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
EXPIRES = StopTimes(expires_at=NOW + timedelta(hours=30))
HOURS = StopTimes(working_hours=read_hours("mon,tue,wed,thu,fri 08:00-20:00 Europe/Berlin"))
BOTH = StopTimes(expires_at=EXPIRES.expires_at, working_hours=HOURS.working_hours)


@pytest.mark.parametrize(
    ("times", "hours", "with_hours", "said"),
    [
        pytest.param(StopTimes(), 500, True, "", id="no guard"),
        pytest.param(EXPIRES, 30, True, "", id="over just before"),
        pytest.param(EXPIRES, 31, True, "guard.expires of the cluster ends jobs at 2026-12-01 18"),
        pytest.param(HOURS, 7, True, "", id="over within working hours"),
        pytest.param(
            HOURS, 8, True, "guard.working_hours of the cluster ends jobs at 2026-11-30 1"
        ),
        pytest.param(HOURS, 8, False, "", id="goes on"),
        pytest.param(BOTH, 31, True, "guard.working_hours"),
        pytest.param(BOTH, 31, False, "guard.expires"),
        pytest.param(StopTimes(expires_at=NOW), 31, True, "", id="expired"),
    ],
)
def test_a_job_that_may_run_past_a_stop_is_told(
    times: StopTimes, hours: int, with_hours: bool, said: str
) -> None:
    found = stop_notice(times, timedelta(hours=hours), NOW, ends_with_hours=with_hours)

    assert bool(found) == bool(said)
    assert said in (found or "")

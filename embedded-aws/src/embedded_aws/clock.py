"""The time of the embedded AWS: the day as of which it answers, and how fast its waits pass.

A control lets days pass at once for all that goes by `now`. A reset is a new process, in which none
have passed.
"""

from datetime import UTC, date, datetime, timedelta

from embedded_aws.offered_controls import ControlError
from embedded_aws.service_settings import current

_MOST = 36_500
_passed = timedelta()


def today() -> date:
    """Return the day as of which the APIs answer; what AWS withdrew later still exists."""
    return current().as_of or datetime.now(UTC).date()


def now() -> datetime:
    """Return the time of what waits for hours or days."""
    return datetime.now(UTC) + _passed


def time_from_json(found: object) -> timedelta:
    """Read from JSON how much time is to pass.

    Raises:
        ControlError: it is not an object with days or hours.
    """
    if not isinstance(found, dict) or not found or found.keys() - {"days", "hours"}:
        raise ControlError(
            'the clock takes an object with days or hours, for instance {"days": 90}'
        )
    for name, number in found.items():
        if type(number) not in (int, float) or not 0 <= number <= _MOST:
            raise ControlError(f"{name} of the clock is a number from 0 to {_MOST}, got {number!r}")
    return timedelta(**found)


def let_pass(time: timedelta) -> None:
    """Move `now` forward."""
    global _passed
    _passed += time


def seconds_here(of_aws: float) -> float:
    """Return how many seconds a time lasts here for which a service of AWS waits."""
    return of_aws / current().jobs.speed

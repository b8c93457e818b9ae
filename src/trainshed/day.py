"""The time and the day by which dates are judged."""

import os
from datetime import UTC, date, datetime

from trainshed.errors import TrainshedError

# https://reproducible-builds.org/specs/source-date-epoch: for the same findings at any time.
_PINNED = "SOURCE_DATE_EPOCH"


def now() -> datetime:
    """Return the time, in UTC, or that of `SOURCE_DATE_EPOCH`.

    Raises:
        TrainshedError: the variable holds no number of seconds.
    """
    pinned = os.environ.get(_PINNED)
    if pinned is None:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(pinned), UTC)
    except (ValueError, OverflowError, OSError):
        raise TrainshedError(
            f"{_PINNED} is {pinned!r}, and not a number of seconds since 1970; correct or unset it"
        ) from None


def today() -> date:
    """Return today, in UTC, or the day of `SOURCE_DATE_EPOCH`.

    Raises:
        TrainshedError: the variable holds no number of seconds.
    """
    return now().date()

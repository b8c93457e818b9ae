"""The hours in which a cluster has nodes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingHours:
    """From one time of the day to a later one, on some days of the week.

    Attributes:
        days: for instance `mon`, in the order of the week.
        begins: the first time.
        ends: the later time.
        zone: name of the time zone that both are in, for instance `Europe/Berlin`.
    """

    days: tuple[str, ...]
    begins: time
    ends: time
    zone: str

    def __str__(self) -> str:
        """Return what `read_hours` reads."""
        return f"{','.join(self.days)} {self.begins:%H:%M}-{self.ends:%H:%M} {self.zone}"

    def include(self, moment: datetime) -> bool:
        """Whether the cluster has nodes at a moment."""
        local = moment.astimezone(ZoneInfo(self.zone))
        return WEEKDAYS[local.weekday()] in self.days and self.begins <= local.time() < self.ends

    def next_begin(self, moment: datetime) -> datetime:
        """Return when they begin next after a moment."""
        return next(each for each in self._times(moment, self.begins, _DAY) if each > moment)

    def next_end(self, moment: datetime) -> datetime:
        """Return when they end next after a moment."""
        return next(each for each in self._times(moment, self.ends, _DAY) if each > moment)

    def last_end(self, moment: datetime) -> datetime:
        """Return when they ended last before a moment."""
        return next(each for each in self._times(moment, self.ends, -_DAY) if each <= moment)

    def _times(self, moment: datetime, clock: time, step: timedelta) -> Iterator[datetime]:
        zone = ZoneInfo(self.zone)
        today = moment.astimezone(zone).date()
        for number in range(len(WEEKDAYS) + 1):
            day = today + number * step
            if WEEKDAYS[day.weekday()] in self.days:
                yield datetime.combine(day, clock, zone)


def read_hours(text: str) -> WorkingHours:
    """Return the hours that a text means, as `WorkingHours` writes it."""
    days, times, zone = text.split(" ")
    begins, ends = map(time.fromisoformat, times.split("-"))
    return WorkingHours(days=tuple(days.split(",")), begins=begins, ends=ends, zone=zone)

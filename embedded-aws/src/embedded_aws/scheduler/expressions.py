"""When a schedule calls its target: once, at a rate, or by a cron expression in a time zone.

EventBridge Scheduler user guide, "Schedule types": the three forms; a rate begins at once, or at
its StartDate; a time that a change to summer time leaves out is not made up for, and one that comes
twice counts once. "Cron-based schedules": the fields, of which one of the days is `?`, and no other
one. The letters L, W and # are refused. Inferred: a range that ends before it begins is refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

_AT = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)")
_RATE = re.compile(r"rate\(([1-9]\d*) (minute|hour|day)s?\)")
_CRON = re.compile(r"cron\(([^()]*)\)")
_DAY = timedelta(days=1)
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
# The range of each field, and its names from the first number on.
_FIELDS: Sequence[tuple[int, int, Sequence[str]]] = (
    (0, 59, ()),
    (0, 23, ()),
    (1, 31, ()),
    (1, 12, _MONTHS),
    (1, 7, _WEEKDAYS),
    (1970, 2199, ()),
)


class Expression(Protocol):
    """When a schedule calls its target."""

    def times(self, begin: datetime, after: datetime, until: datetime) -> Iterator[datetime]:
        """Yield the times after one moment and not after another, the earliest first.

        Args:
            begin: since when the schedule is there.
            after: the first moment.
            until: the other.
        """


@dataclass(frozen=True, slots=True)
class Once:
    """Once.

    Attributes:
        moment: when.
    """

    moment: datetime

    def times(self, begin: datetime, after: datetime, until: datetime) -> Iterator[datetime]:
        """Yield the moment if it has come."""
        if after < self.moment <= until:
            yield self.moment


@dataclass(frozen=True, slots=True)
class Rate:
    """Again and again.

    Attributes:
        interval: from one time to the next.
    """

    interval: timedelta

    def times(self, begin: datetime, after: datetime, until: datetime) -> Iterator[datetime]:
        """Yield the beginning, and each time since then."""
        passed = max(0, (after - begin) // self.interval)
        moment = begin + passed * self.interval
        while moment <= until:
            if moment > after:
                yield moment
            moment += self.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """At times of the day, on some days.

    Attributes:
        fields: the numbers of each field; None for `?`.
        zone: in which they are meant.
    """

    fields: tuple[frozenset[int] | None, ...]
    zone: ZoneInfo

    def times(self, begin: datetime, after: datetime, until: datetime) -> Iterator[datetime]:
        """Yield the times of each day."""
        day, last = after.astimezone(self.zone).date(), until.astimezone(self.zone).date()
        minutes, hours = self.fields[0] or (), self.fields[1] or ()
        while day <= last:
            if self._has(day):
                for hour in sorted(hours):
                    for minute in sorted(minutes):
                        local = datetime.combine(day, time(hour, minute), self.zone)
                        moment = local.astimezone(UTC)
                        there = moment.astimezone(self.zone).time() == local.time()
                        if there and after < moment <= until:
                            yield moment
            day += _DAY

    def _has(self, day: date) -> bool:
        _, _, days, months, weekdays, years = self.fields
        weekday = day.isoweekday() % 7 + 1
        wanted = ((days, day.day), (months, day.month), (weekdays, weekday), (years, day.year))
        return all(numbers is None or number in numbers for numbers, number in wanted)


def parse(text: str, zone: ZoneInfo) -> Expression | None:
    """Return a schedule expression; None if it is none.

    Args:
        text: for instance `cron(0 8 ? * MON-FRI *)`.
        zone: in which its times are meant.

    Raises:
        NotImplementedError: it has letters that the embedded AWS does not know.
    """
    try:
        if found := _AT.fullmatch(text):
            return Once(datetime.fromisoformat(found[1]).replace(tzinfo=zone).astimezone(UTC))
        if found := _RATE.fullmatch(text):
            return Rate(timedelta(**{f"{found[2]}s": int(found[1])}))
        if found := _CRON.fullmatch(text):
            return _cron(found[1].split(), zone)
    # A date or an interval can be too long for Python, too.
    except (ValueError, OverflowError):
        pass
    return None


def _cron(fields: Sequence[str], zone: ZoneInfo) -> Cron | None:
    if [place for place, field in enumerate(fields) if field == "?"] not in ([2], [4]):
        return None
    if len(fields) != len(_FIELDS):
        return None
    if any(re.search(r"\d[LW]|^L|#", field) for field in fields):
        raise NotImplementedError(f"L, W or # in cron({' '.join(fields)})")
    return Cron(
        fields=tuple(
            None if field == "?" else frozenset(_numbers(field, *known))
            for field, known in zip(fields, _FIELDS, strict=True)
        ),
        zone=zone,
    )


def _numbers(field: str, first: int, last: int, names: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of a field.

    Raises:
        ValueError: it is not written as one, or has a number that it may not have.
    """
    known: Mapping[str, int] = {name: first + place for place, name in enumerate(names)}

    def number(text: str) -> int:
        found = known[text.upper()] if text.upper() in known else _digits(text)
        if not first <= found <= last:
            raise ValueError(text)
        return found

    for part in field.split(","):
        span, slash, step = part.partition("/")
        begin, dash, end = span.partition("-")
        if span == "*":
            low, high = first, last
        else:
            low = number(begin)
            high = number(end) if dash else last if slash else low
        numbers = range(low, high + 1, _digits(step) if slash else 1)
        if not numbers:
            raise ValueError(part)
        yield from numbers


def _digits(text: str) -> int:
    # Python reads `+5`, `1_0` and other letters than these as numbers, too.
    if not re.fullmatch("[0-9]+", text):
        raise ValueError(text)
    return int(text)

"""What stops the nodes of a cluster by itself."""

from datetime import datetime, time
from enum import StrEnum
from functools import cache
from typing import Annotated, Self
from zoneinfo import available_timezones

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from trainshed.documents.model import Model, Whole
from trainshed.guard.working_hours import WEEKDAYS, WorkingHours
from trainshed.spec import forms
from trainshed.spec.calendar import Moment

# Among the zones of some systems: their own, which is another one elsewhere.
_NOT_OF_IANA = "localtime"
# It opens many files.
_time_zones = cache(available_timezones)


def _is_a_zone(name: str) -> str:
    if name == _NOT_OF_IANA or name not in _time_zones():
        raise ValueError(
            f"{name!r} is no time zone of the IANA database; for instance Europe/Berlin"
        )
    return name


TimeOfDay = Annotated[str, Field(pattern=forms.TIME_OF_DAY.pattern)]
TimeZone = Annotated[str, Field(pattern=forms.TIME_ZONE.pattern), AfterValidator(_is_a_zone)]


class WorkingHoursSpec(Model):
    """The hours in which the cluster has nodes."""

    # `from` is no name in Python.
    model_config = ConfigDict(validate_by_name=True)

    days: Annotated[str, Field(pattern=forms.WEEKDAYS.pattern)] = "mon-fri"
    """Days of the week, for instance mon-fri or tue."""
    begins: TimeOfDay = Field(alias="from")
    """When nodes are started, for instance "08:00"."""
    ends: TimeOfDay = Field(alias="to")
    """When they are stopped, on the same day."""
    time_zone: TimeZone = "UTC"
    """Time zone of both, for instance Europe/Berlin; summer time is followed."""

    @model_validator(mode="after")
    def _is_within_a_day(self) -> Self:
        if self.ends <= self.begins:
            raise ValueError(
                f"to is {self.ends}, not after from, which is {self.begins}; give hours of one day"
            )
        first, _, last = self.days.partition("-")
        if last and WEEKDAYS.index(last) <= WEEKDAYS.index(first):
            raise ValueError(f"days are {self.days}, which is no span from mon to sun")
        return self

    @property
    def hours(self) -> WorkingHours:
        """The same, with all days and as times."""
        first, _, last = self.days.partition("-")
        begin, end = WEEKDAYS.index(first), WEEKDAYS.index(last or first)
        return WorkingHours(
            days=WEEKDAYS[begin : end + 1],
            begins=time.fromisoformat(self.begins),
            ends=time.fromisoformat(self.ends),
            zone=self.time_zone,
        )


class BudgetSpec(Model):
    """What the cluster may cost in a month, of which people are told."""

    monthly_usd: Whole = Field(ge=1, le=100_000_000)
    """USD in a calendar month, for instance 20000."""
    at_percent: tuple[Annotated[Whole, Field(ge=1, le=1000)], ...] = Field(
        default=(50, 80, 100), min_length=1, max_length=10
    )
    """People are told when so much of it is spent, in percent."""

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        if list(self.at_percent) != sorted(set(self.at_percent)):
            raise ValueError("at_percent is not in ascending order; sort it, each number once")
        return self


class IdleAction(StrEnum):
    """What happens when nodes are idle."""

    NOTIFY = "notify"
    SCALE_DOWN = "scale-down"


class IdleSpec(Model):
    """Nodes that are there and compute nothing."""

    minutes: Whole = Field(default=60, ge=15, le=1440, multiple_of=5)
    """No accelerator has been busy for so long; a multiple of 5."""
    action: IdleAction = IdleAction.NOTIFY
    """notify: people are told. scale-down: the nodes go, too."""


class GuardSpec(Model):
    """What stops the nodes by itself, and never touches data; by default nothing does."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    expires: Moment | None = None
    """When the nodes are stopped for good, in UTC, and jobs that run are ended; storage, images and
    network stay. With notify, people are told a day and two hours before."""
    working_hours: WorkingHoursSpec | None = None
    """Nodes are there in these hours only; default: always."""

    budget: BudgetSpec | None = None
    """What the cluster may cost in a month. People are told of it, so it needs notify; it stops
    nothing."""

    idle: IdleSpec | None = None
    """What happens when nodes are there and compute nothing; of clusters that keep nodes."""

    @model_validator(mode="before")
    @classmethod
    def _has_no_lifetime(cls, fields: object) -> object:
        if isinstance(fields, dict) and "ttl_hours" in fields:
            raise ValueError(
                "ttl_hours is not known, because a template has no clock to count from; give the "
                "time in expires"
            )
        return fields

    @property
    def expires_at(self) -> datetime | None:
        """When the nodes are stopped for good."""
        return datetime.fromisoformat(self.expires) if self.expires else None


def refuse_no_fields(value: object) -> object:
    """Refuse a section that is there and says nothing: nodes would seem to be guarded."""
    if value == {}:
        raise ValueError(
            "is an empty mapping, which stops nothing; give it fields "
            f"({', '.join(GuardSpec.model_fields)}), or leave the key out"
        )
    return value

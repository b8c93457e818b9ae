"""Capacity Blocks or reservations one after another, each with its window."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from trainshed.documents.model import Model
from trainshed.spec import forms

# EventBridge Scheduler user guide, "Schedule types": the years of a cron expression.
_FIRST_YEAR, _LAST_YEAR = 1970, 2199


def _is_a_time(text: str) -> str:
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not allowed: {error}") from None
    if not _FIRST_YEAR <= time.year <= _LAST_YEAR:
        raise ValueError(
            f"{text!r} is not allowed; give a year from {_FIRST_YEAR} to {_LAST_YEAR}, which "
            "EventBridge Scheduler takes"
        )
    return text


Moment = Annotated[str, Field(pattern=forms.MOMENT.pattern), AfterValidator(_is_a_time)]
WindowReservationId = Annotated[str, Field(pattern=forms.RESERVATION.pattern)]


class WindowSpec(Model):
    """A Capacity Block or a reservation, and the time in which it is there."""

    # `from` is no name in Python.
    model_config = ConfigDict(validate_by_name=True)

    capacity_block: WindowReservationId | None = None
    """Id of a Capacity Block; a window has this or `reservation`, and all windows the same of
    both."""
    reservation: WindowReservationId | None = None
    """Id of an On-Demand Capacity Reservation."""
    begins: Moment = Field(alias="from")
    """When it begins, in UTC."""
    until: Moment
    """When it ends, in UTC; EC2 ends the nodes of a Capacity Block 30 minutes before, those of
    UltraServers 60."""

    @model_validator(mode="after")
    def _is_a_window(self) -> Self:
        if (self.capacity_block is None) == (self.reservation is None):
            raise ValueError("give either capacity_block or reservation")
        if self.ends_at <= self.begins_at:
            raise ValueError(f"until is {self.until}, and must be after from, {self.begins}")
        return self

    @property
    def reservation_id(self) -> str:
        """The id of the block or of the reservation."""
        return self.capacity_block or self.reservation or ""

    @property
    def begins_at(self) -> datetime:
        """When it begins."""
        return datetime.fromisoformat(self.begins)

    @property
    def ends_at(self) -> datetime:
        """When it ends."""
        return datetime.fromisoformat(self.until)


class Calendar(Model):
    """Launch into several Capacity Blocks or reservations, into each in its window."""

    calendar: tuple[WindowSpec, ...]
    """Their windows; with orchestrator batch. The blocks or reservations are of the cluster's own
    account. A change of the calendar ends no job."""

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        if not self.calendar:
            raise ValueError("calendar is empty; give it at least one window")
        # EC2 user guide, "Launch instances into Capacity Reservations in a group": a launch has one
        # purchasing option, and thus one type of reservation.
        if len({window.capacity_block is None for window in self.calendar}) > 1:
            raise ValueError(
                "has Capacity Blocks and reservations: nodes are launched into one kind; keep the "
                "windows of one of them"
            )
        ids = [window.reservation_id for window in self.calendar]
        if twice := next((each for each in ids if ids.count(each) > 1), None):
            raise ValueError(f"names {twice} twice; a block or reservation has one window")
        return self

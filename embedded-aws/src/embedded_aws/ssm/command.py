"""A command of Run Command, and its invocations: one for each instance.

Systems Manager user guide, "Understanding command statuses", and API reference: the statuses and
how that of a command follows from those of its invocations; numbers of errors and of invocations at
a time may be percentages; a command's total time-out is that of its delivery and those of its
steps. Inferred: the Status of a command that is Incomplete, and of an invocation that is Terminated
or Undeliverable.
"""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.ssm.document_content import Step

# Commands run meanwhile: whoever reads or changes them holds it.
guard = threading.RLock()

# The Status of each StatusDetails.
STATUSES = {
    "Pending": "Pending",
    "InProgress": "InProgress",
    "Success": "Success",
    "Failed": "Failed",
    "ExecutionTimedOut": "TimedOut",
    "DeliveryTimedOut": "TimedOut",
    "Cancelled": "Cancelled",
    "Terminated": "Cancelled",
    "Undeliverable": "Failed",
    "Incomplete": "Failed",
    "NoInstancesInTag": "Failed",
}
_UNFINISHED = ("Pending", "InProgress")
# Those that count against MaxErrors.
ERRORS = ("Failed", "ExecutionTimedOut")


@dataclass(slots=True, kw_only=True)
class StepRun:
    """A step on one instance.

    Attributes:
        step: what runs.
        details: its StatusDetails.
        code: its response code; -1 until it has ended.
        began: when it began.
        ended: when it ended.
        output: the beginning of its standard output.
        errors: the beginning of its standard error.
    """

    step: Step
    details: str = "Pending"
    code: int = -1
    began: datetime | None = None
    ended: datetime | None = None
    output: str = ""
    errors: str = ""


@dataclass(slots=True, kw_only=True, eq=False)
class Invocation:
    """A command on one instance.

    Attributes:
        instance: moto's.
        steps: of the command's document.
        details: its StatusDetails.
    """

    instance: Any
    steps: Sequence[StepRun]
    details: str = "Pending"

    @property
    def over(self) -> bool:
        """It changes no more."""
        return self.details not in _UNFINISHED


@dataclass(slots=True, kw_only=True, eq=False)
class Command:
    """A command.

    Attributes:
        call: that sent it.
        id: its id.
        document: name of its document.
        requested: when it was sent.
        delivery_seconds: in which it must reach an instance.
        execution_seconds: in which its steps must end.
        invocations: one for each instance.
    """

    call: Call
    id: str
    document: str
    requested: datetime
    delivery_seconds: int
    execution_seconds: int
    invocations: Sequence[Invocation] = field(default_factory=tuple)

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters of SendCommand."""
        return self.call.params

    @property
    def expires(self) -> datetime:
        """When every invocation that is not over times out."""
        return self.requested + timedelta(seconds=self.total_seconds)

    @property
    def total_seconds(self) -> int:
        """How long it may take, delivery and execution."""
        return self.delivery_seconds + self.execution_seconds

    @property
    def at_a_time(self) -> int:
        """How many invocations may be in progress."""
        return max(1, self._number("MaxConcurrency", "50"))

    @property
    def max_errors(self) -> int:
        """After how many errors no other invocation starts."""
        return self._number("MaxErrors", "0")

    def _number(self, parameter: str, default: str) -> int:
        text = str(self.params.get(parameter, default))
        if text.endswith("%"):
            return math.floor(len(self.invocations) * int(text[:-1]) / 100)
        return int(text)

    def count(self, *details: str) -> int:
        """Return how many invocations have one of these StatusDetails."""
        return sum(each.details in details for each in self.invocations)

    @property
    def details(self) -> str:
        """Its StatusDetails."""
        if not self.invocations:
            return "NoInstancesInTag"
        if unfinished := self.count(*_UNFINISHED):
            untouched = self.count("Pending") == unfinished == len(self.invocations)
            return "Pending" if untouched else "InProgress"
        if self.count("Cancelled"):
            return "Cancelled"
        enough = max(1, self.max_errors)
        if self.count(*ERRORS) >= enough:
            return "Failed" if self.count("Failed") else "ExecutionTimedOut"
        if self.count("DeliveryTimedOut") >= enough:
            return "DeliveryTimedOut"
        if self.count("Success", "Undeliverable") == len(self.invocations):
            return "Success" if self.count("Success") else "Undeliverable"
        return "Incomplete"

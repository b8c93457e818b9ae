"""Waiting for the signals to a new resource, with an event for each.

CloudFormation user guide, "CreationPolicy attribute". Events as users and ParallelCluster's guide
show them: "Received SUCCESS signal with UniqueId i-...", the same with FAILURE as the reason of an
instance that failed, "Failed to receive 1 resource signal(s) within the specified duration"; of
Auto Scaling groups "... for the current batch", and the SUCCESS or FAILURE signals out of all.
Eucalyptus, aws-cli issue 7133: only signals of the resource's own instances count.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import monotonic
from typing import Final

from embedded_aws.cloudformation.execution.runs import answer_callers
from embedded_aws.cloudformation.records import Resource
from embedded_aws.cloudformation.signals import Mailbox
from embedded_aws.cloudformation.stack import Stack
from embedded_aws.cloudformation.template.creation_policy import CreationPolicy

CANCELLED: Final = "Resource creation cancelled"


class NotSignalled(Exception):
    """The signals to a resource do not let it be complete; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """The signals for which a new resource waits.

    Attributes:
        stack: gets the events.
        resource: as made.
        verb: CREATE, or UPDATE when it takes the place of another one.
        policy: how many, and how long.
        mailbox: that takes them.
        ends_at: when it has waited for long enough.
        signallers: returns the ids that count; None for all.
    """

    stack: Stack
    resource: Resource
    verb: str
    policy: CreationPolicy
    mailbox: Mailbox
    ends_at: float
    signallers: Callable[[], Collection[str] | None]

    def wait(self) -> None:
        """Return when enough signals have come.

        Raises:
            NotSignalled: they failed, or did not come in time.
        """
        statuses: dict[str, str] = {}
        answer_callers()
        while len(statuses) < self.policy.count:
            signal = self.mailbox.take(self.ends_at - monotonic())
            if self.mailbox.cancelled:
                raise NotSignalled(CANCELLED)
            if signal is None:
                self._time_out(list(statuses.values()))
                return
            ids = self.signallers()
            if ids is not None and signal.unique_id not in ids:
                continue
            statuses[signal.unique_id] = signal.status
            said = f"Received {signal.status} signal with UniqueId {signal.unique_id}"
            if signal.status == "FAILURE" and self.policy.percent is None:
                raise NotSignalled(said)
            self._record(said)
            self._check_failures(list(statuses.values()).count("FAILURE"))

    def _check_failures(self, failures: int) -> None:
        if failures > self.policy.count - self._needed:
            raise NotSignalled(self._unsatisfied(failures, "FAILURE"))

    def _time_out(self, statuses: list[str]) -> None:
        missing, successes = self.policy.count - len(statuses), statuses.count("SUCCESS")
        if self.policy.percent is None:
            raise NotSignalled(
                f"Failed to receive {missing} resource signal(s) within the specified duration"
            )
        self._record(
            f"Failed to receive {missing} resource signal(s) for the current batch.  Each resource "
            "signal timeout is counted as a FAILURE."
        )
        if successes < self._needed:
            raise NotSignalled(self._unsatisfied(successes, "SUCCESS"))

    @property
    def _needed(self) -> int:
        """How many signals must say SUCCESS."""
        return -(-self.policy.count * (self.policy.percent or 0) // 100)

    def _unsatisfied(self, number: int, status: str) -> str:
        return (
            f"Received {number} {status} signal(s) out of {self.policy.count}.  Unable to satisfy "
            f"{self.policy.percent}% MinSuccessfulInstancesPercent requirement"
        )

    def _record(self, reason: str) -> None:
        self.stack.store(
            self.stack.record_resource(self.resource, f"{self.verb}_IN_PROGRESS", reason)
        )

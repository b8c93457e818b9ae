"""How an attempt of a job ended, and who hears of it."""

from dataclasses import dataclass
from typing import Any, Protocol

from embedded_aws.batch.job import Job
from embedded_aws.batch.node_instances import Need
from embedded_aws.batch.retry_rules import Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an attempt ended.

    Attributes:
        succeeded: the main node ended with 0.
        failure: what the retry rules look at.
        final: whatever the retry rules say, there is no other attempt.
    """

    succeeded: bool
    failure: Failure
    final: bool


# Of an attempt that a bug of the embedded AWS ended.
BROKEN = Outcome(
    succeeded=False,
    final=True,
    failure=Failure(
        exit_code=None,
        reason=None,
        status_reason="the embedded AWS failed; its log says why",
    ),
)


class Watched(Protocol):
    """An attempt, as its watcher knows it.

    Attributes:
        job: of which it is an attempt.
        need: its instances.
        instances: moto's, one for each node; None for one that was not launched yet.
        stop_reason: why it is being ended; None when it is not.
    """

    job: Job
    need: Need
    instances: list[Any]
    stop_reason: str | None


class Watcher(Protocol):
    """Who started attempts, and hears of them from their threads."""

    def launched(self, attempt: Watched) -> None:
        """Its instances run."""

    def blocked(self, attempt: Watched, reason: str) -> None:
        """It ended before it began, because instances are lacking."""

    def ended(self, attempt: Watched, outcome: Outcome) -> None:
        """It ended, and nothing of it is left but its instances."""

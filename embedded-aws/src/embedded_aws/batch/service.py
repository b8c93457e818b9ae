"""What AWS Batch does beside answering calls: it runs jobs on instances."""

from typing import Any

from embedded_aws.batch.scheduler import Scheduler
from embedded_aws.hooks import (
    ServingProcess,
    when_faults_changed,
    when_instance_ended,
    when_serving,
)
from embedded_aws.hosts.service import hosts

_scheduler: Scheduler | None = None


def scheduler() -> Scheduler | None:
    """Return what runs jobs; None for jobs that stay RUNNABLE."""
    return _scheduler


@when_serving
def _start(_: ServingProcess) -> None:
    global _scheduler
    if found := hosts():
        _scheduler = Scheduler(found)


@when_instance_ended
def _end_host(instance: Any) -> None:
    if _scheduler:
        _scheduler.host_ended(instance.id)


@when_faults_changed
def _try_again() -> None:
    if _scheduler:
        _scheduler.wake()

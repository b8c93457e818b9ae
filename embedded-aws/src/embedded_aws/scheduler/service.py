"""What EventBridge Scheduler does beside answering calls: it calls the targets of schedules.

EventBridge Scheduler user guide, "Schedule types": with a precision of 60 seconds. A flexible time
window is not waited for. "Configuring a retry policy": a call that fails is made again, up to 185
times in 24 hours; here, when time passes. API reference, CreateSchedule: the dates of a one-time
schedule are ignored. "Deleting a schedule": one that recurs is deleted after the last call before
its EndDate, if that was asked for; without an EndDate, never.
"""

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from moto.backends import get_backend
from moto.scheduler.models import Schedule, scheduler_backends

from embedded_aws.clock import now
from embedded_aws.hooks import ServingProcess, when_serving, when_stopping, when_time_passed
from embedded_aws.scheduler.expressions import Once
from embedded_aws.scheduler.schedules import at_utc, expression_of, since
from embedded_aws.scheduler.targets import read_target

_RAN_UNTIL = "embedded_aws_ran_until"
_MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class _Invocation:
    """A call that is due.

    Attributes:
        due_at: since when.
        account: of the schedule.
        region: of the schedule.
        schedule: moto's.
        attempts: how often it has failed.
    """

    due_at: datetime
    account: str
    region: str
    schedule: Schedule
    attempts: int = 0


class ScheduleRuns:
    """Calls the targets of schedules when they are due.

    Args:
        endpoint: URL of this embedded AWS.
    """

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._again: list[_Invocation] = []
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self) -> None:
        """Call no target any more."""
        self._stop.set()

    def run(self) -> None:
        """Call what is due by now, in the order in which it is."""
        with self._guard:
            due = sorted([*self._again, *_due()], key=lambda each: each.due_at)
            self._again = [later for each in due if (later := self._invoke(each))]

    def _run(self) -> None:
        while not self._stop.wait(_MINUTE - now().second):
            self.run()

    def _invoke(self, due: _Invocation) -> _Invocation | None:
        """Call a target; return what is to be tried again."""
        schedule, policy = due.schedule, due.schedule.target["RetryPolicy"]
        if not _is_there(due):
            return None
        target = read_target(schedule.target["Arn"], schedule.target.get("Input", "{}"))
        try:
            client = self._client(due, target.service)
            getattr(client, target.method)(**target.arguments)
        except (BotoCoreError, ClientError) as error:
            logging.warning("schedule %s: %s", schedule.arn, error)
            attempts = due.attempts + 1
            oldest = timedelta(seconds=policy.get("MaximumEventAgeInSeconds", 86400))
            if attempts <= policy.get("MaximumRetryAttempts", 185) and now() - due.due_at < oldest:
                return replace(due, attempts=attempts)
        _complete(due)
        return None

    def _client(self, due: _Invocation, service: str) -> Any:
        """Return a client with the credentials of a schedule's role."""
        assumed = get_backend("sts")[due.account]["aws"].assume_role(
            region_name=due.region,
            role_session_name=due.schedule.name,
            role_arn=due.schedule.target["RoleArn"],
            policy="",
            duration=3600,
            external_id="",
        )
        return boto3.session.Session(
            aws_access_key_id=assumed.access_key_id,
            aws_secret_access_key=assumed.secret_access_key,
            aws_session_token=assumed.session_token,
            region_name=due.region,
        ).client(service, endpoint_url=self._endpoint)


def _due() -> Iterator[_Invocation]:
    """Yield the calls that have become due, each once."""
    until = now()
    for account, regions in scheduler_backends.items():
        for region, backend in list(regions.items()):
            for schedule in _schedules(backend):
                begin, end = _span(schedule)
                # A rate without a beginning calls at once.
                first = since(schedule) - timedelta(microseconds=1)
                after = max(vars(schedule).get(_RAN_UNTIL, first), first)
                vars(schedule)[_RAN_UNTIL] = until
                for moment in expression_of(schedule).times(begin, after, until):
                    current = begin <= moment and (end is None or moment < end)
                    if current and schedule.state == "ENABLED":
                        yield _Invocation(
                            due_at=moment, account=account, region=region, schedule=schedule
                        )


def _schedules(backend: Any) -> list[Schedule]:
    # The dictionary of a group is a plain one, and threads of calls change it.
    return [
        each
        for group in backend.schedule_groups.values()
        for each in list(group.schedules.values())
    ]


def _is_there(due: _Invocation) -> bool:
    return due.schedule in _schedules(scheduler_backends[due.account][due.region])


def _span(schedule: Schedule) -> tuple[datetime, datetime | None]:
    """Return since when a schedule calls, and until when, if that has an end."""
    if isinstance(expression_of(schedule), Once):
        return since(schedule), None
    return at_utc(schedule.start_date) or since(schedule), at_utc(schedule.end_date)


def _complete(due: _Invocation) -> None:
    """Delete a schedule that has done all it does, if that was asked for."""
    schedule = due.schedule
    if schedule.action_after_completion == "DELETE" and _was_last(due):
        backend = scheduler_backends[due.account][due.region]
        backend.delete_schedule(schedule.group_name, schedule.name)


def _was_last(due: _Invocation) -> bool:
    """Whether a schedule makes no further call."""
    begin, end = _span(due.schedule)
    expression = expression_of(due.schedule)
    if end is None:
        return isinstance(expression, Once)
    return all(moment >= end for moment in expression.times(begin, due.due_at, end))


_runs: ScheduleRuns | None = None


@when_serving
def _start(process: ServingProcess) -> None:
    global _runs
    _runs = ScheduleRuns(process.settings.endpoint)


@when_time_passed
def _run() -> None:
    if _runs:
        _runs.run()


@when_stopping
def _stop() -> None:
    if _runs:
        _runs.stop()

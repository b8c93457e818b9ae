"""Schedules: what CreateSchedule and UpdateSchedule check; moto keeps them.

EventBridge Scheduler API reference, CreateSchedule; "Set up the execution role". The words of
refusals are those that users of the SDKs quote. Inferred: the words about a time zone, a window,
a group, an end, and a time that has passed, which is refused. Documented: a creation with the
ClientToken of the schedule that is there is the same one again.
"""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from moto.scheduler.models import Schedule

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.clock import now
from embedded_aws.constraints import checks_arguments
from embedded_aws.iam.roles import can_assume
from embedded_aws.scheduler.expressions import Expression, Once, parse
from embedded_aws.scheduler.targets import read_target

checks_arguments("scheduler", "ValidationException")

_RUN, _TOKEN = "embedded_aws_run", "embedded_aws_token"


@action("scheduler", "CreateSchedule")
def create_schedule(call: Call) -> Any:
    """Create a schedule."""
    _check(call)
    group = call.backend("scheduler").get_schedule_group(call.params.get("GroupName"))
    token, there = call.params.get("ClientToken"), group.schedules.get(call.params["Name"])
    if token and there and vars(there).get(_TOKEN) == token:
        return {"ScheduleArn": there.arn}
    answer = call.moto()
    schedule = _schedule(call)
    vars(schedule)[_TOKEN] = token
    forget_run(schedule)
    return answer


@action("scheduler", "UpdateSchedule")
def update_schedule(call: Call) -> Any:
    """Change a schedule as a whole: what is not given gets its default."""
    _schedule(call)
    _check(call)
    answer = call.moto()
    schedule = _schedule(call)
    # What moto's operation leaves as it was.
    schedule.action_after_completion = call.params.get("ActionAfterCompletion")
    schedule.state = call.params.get("State", "ENABLED")
    forget_run(schedule)
    return answer


def expression_of(schedule: Schedule) -> Expression:
    """Return when moto's schedule calls its target."""
    zone = ZoneInfo(schedule.schedule_expression_timezone)
    found = parse(schedule.schedule_expression, zone)
    assert found
    return found


def forget_run(schedule: Schedule) -> None:
    """Count a schedule as new: what was due before now is not."""
    vars(schedule)[_RUN] = now()


def since(schedule: Schedule) -> datetime:
    """Return since when a schedule is as it is."""
    # One that is being created is there before its call ends.
    found: datetime = vars(schedule).setdefault(_RUN, now())
    return found


def _schedule(call: Call) -> Schedule:
    backend = call.backend("scheduler")
    found: Schedule = backend.get_schedule(call.params.get("GroupName"), call.params["Name"])
    return found


def _check(call: Call) -> None:
    given = call.params
    call.backend("scheduler").get_schedule_group(given.get("GroupName"))
    zone = _zone(given.get("ScheduleExpressionTimezone", "UTC"))
    text = given["ScheduleExpression"]
    expression = parse(text, zone)
    if expression is None:
        raise _invalid(f"Invalid Schedule Expression {text}.")
    if isinstance(expression, Once) and expression.moment <= now():
        raise _invalid(f"Invalid Schedule Expression {text}. It is in the past.")
    start, end = given.get("StartDate"), given.get("EndDate")
    if end and not isinstance(expression, Once) and end <= max(start or now(), now()):
        raise _invalid("The EndDate you specify must be in the future, and after the StartDate.")
    window = given["FlexibleTimeWindow"]
    if (window["Mode"] == "FLEXIBLE") != ("MaximumWindowInMinutes" in window):
        raise _invalid("MaximumWindowInMinutes goes with a FlexibleTimeWindow of mode FLEXIBLE.")
    target = given["Target"]
    if "DeadLetterConfig" in target:
        raise NotImplementedError("dead-letter queues of schedules")
    read_target(target["Arn"], target.get("Input", "{}"))
    if not can_assume(call, "scheduler.amazonaws.com", target["RoleArn"]):
        raise _invalid(
            "The execution role you provide must allow AWS EventBridge Scheduler to assume the "
            "role."
        )


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise _invalid(f"Invalid time zone {name}.") from error


def _invalid(message: str) -> Refusal:
    return Refusal("ValidationException", message)


def at_utc(found: Any) -> datetime | None:
    """Return a date of moto's schedule, which it has as seconds or a text."""
    if found is None:
        return None
    if isinstance(found, int | float):
        return datetime.fromtimestamp(found, UTC)
    return datetime.fromisoformat(found).astimezone(UTC)

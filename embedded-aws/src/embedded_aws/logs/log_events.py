"""Log events, and the metrics that they carry.

CloudWatch Logs API reference, PutLogEvents: what a batch may hold, and which events are rejected
while the others are taken. Users' reports quote the words: aws-opennext issue 27 those about bytes,
moby issue 41529 those about a day. Programs on instances have the clock of the machine, so events
are too old by that one, and too new by the one of the embedded AWS. Events older than the log
group's retention are taken.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from embedded_aws.actions import Call, Refusal, action, existing
from embedded_aws.clock import now
from embedded_aws.logs.embedded_metrics import extract_metrics

_MOST_BYTES, _BYTES_OF_EVENT = 1_048_576, 26
_OLDEST, _NEWEST, _LONGEST = timedelta(days=14), timedelta(hours=2), timedelta(days=1)
_MILLISECOND = timedelta(milliseconds=1)


@action("logs", "PutLogEvents")
def put_log_events(call: Call) -> Any:
    """Take events, and make metrics of those that carry some."""
    events = call.params["logEvents"]
    group = existing(
        call.backend("logs").groups.get(call.params["logGroupName"]),
        "ResourceNotFoundException",
        "The specified log group does not exist.",
    )
    oldest = _milliseconds(datetime.now(UTC) - _OLDEST)
    newest = _milliseconds(now() + _NEWEST)
    taken = [each for each in events if oldest <= each["timestamp"] <= newest]
    _check(events, taken)
    token = group.put_log_events(call.params["logStreamName"], taken)
    extract_metrics(
        call.account,
        call.region,
        call.params["logGroupName"],
        [each["message"] for each in taken],
    )
    rejected = {}
    if too_old := sum(each["timestamp"] < oldest for each in events):
        rejected["tooOldLogEventEndIndex"] = too_old
    if too_new := sum(each["timestamp"] > newest for each in events):
        rejected["tooNewLogEventStartIndex"] = len(events) - too_new
    return {
        "nextSequenceToken": token,
        **({"rejectedLogEventsInfo": rejected} if rejected else {}),
    }


def _check(events: Sequence[Mapping[str, Any]], valid: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a batch as a whole.

    Raises:
        Refusal: it is too large, too long, or not in the order of time.
    """
    size = sum(len(each["message"].encode()) + _BYTES_OF_EVENT for each in events)
    if size > _MOST_BYTES:
        raise _invalid(f"Upload too large: {size} bytes exceeds limit of {_MOST_BYTES}")
    times = [each["timestamp"] for each in events]
    if times != sorted(times):
        raise _invalid(
            "Log events in a single PutLogEvents request must be in chronological order."
        )
    if valid and valid[-1]["timestamp"] - valid[0]["timestamp"] > _LONGEST / _MILLISECOND:
        raise _invalid(
            "The batch of log events in a single PutLogEvents request cannot span more than 24 "
            "hours."
        )


def _milliseconds(time: datetime) -> int:
    return int(time.timestamp() * 1000)


def _invalid(message: str) -> Refusal:
    return Refusal("InvalidParameterException", message)

"""Batches of log events: what they may hold, and which events are taken."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from moto.logs.models import LogStream

from embedded_aws.embedded import EmbeddedAws

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Stream:
    """A log stream, and events by how long ago they are."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self._logs = aws.client("logs")
        self._logs.create_log_group(logGroupName="g")
        self._logs.create_log_stream(logGroupName="g", logStreamName="s")

    def put(self, *ages: timedelta, message: str = "m") -> dict[str, Any]:
        """Write an event for each of some ages; return the answer."""
        now = datetime.now(UTC)
        events = [
            {"timestamp": int((now - age).timestamp() * 1000), "message": message} for age in ages
        ]
        answer: dict[str, Any] = self._logs.put_log_events(
            logGroupName="g", logStreamName="s", logEvents=events
        )
        return answer

    def count(self) -> int:
        events = self._logs.get_log_events(logGroupName="g", logStreamName="s", startFromHead=True)[
            "events"
        ]
        return len(events)

    def refusal(self, put: Callable[[], object]) -> str:
        with pytest.raises(self._logs.exceptions.InvalidParameterException) as refused:
            put()
        return str(refused.value.response["Error"]["Message"])


@pytest.fixture
def stream(clean_aws: EmbeddedAws) -> Stream:
    return Stream(clean_aws)


@pytest.mark.parametrize(
    ("ages", "rejected"),
    [
        ([HOUR, -HOUR], {}),
        ([15 * DAY, 15 * DAY, HOUR], {"tooOldLogEventEndIndex": 2}),
        ([HOUR, -3 * HOUR, -4 * HOUR], {"tooNewLogEventStartIndex": 1}),
        ([15 * DAY, -3 * HOUR], {"tooOldLogEventEndIndex": 1, "tooNewLogEventStartIndex": 1}),
    ],
)
def test_events_that_are_too_old_or_new_are_rejected_and_the_others_taken(
    stream: Stream, ages: Sequence[timedelta], rejected: dict[str, int]
) -> None:
    answer = stream.put(*ages)

    assert answer.get("rejectedLogEventsInfo", {}) == rejected
    assert stream.count() == sum(-2 * HOUR < age < 14 * DAY for age in ages)


def test_the_present_is_that_of_the_clock(clean_aws: EmbeddedAws, stream: Stream) -> None:
    clean_aws.let_pass(days=30)

    answer = stream.put(-30 * DAY)

    assert "rejectedLogEventsInfo" not in answer
    assert stream.count() == 1
    # Programs on instances go by the clock of the machine.
    assert "rejectedLogEventsInfo" not in stream.put(timedelta())


def test_a_rejected_event_makes_no_metric(clean_aws: EmbeddedAws, stream: Stream) -> None:
    directive = {"Namespace": "N", "Dimensions": [[]], "Metrics": [{"Name": "M"}]}
    at = int(datetime.now(UTC).timestamp() * 1000)
    message = json.dumps({"_aws": {"Timestamp": at, "CloudWatchMetrics": [directive]}, "M": 1})
    cloudwatch = clean_aws.client("cloudwatch")

    stream.put(15 * DAY, message=message)
    assert cloudwatch.list_metrics(Namespace="N")["Metrics"] == []

    stream.put(HOUR, message=message)
    assert len(cloudwatch.list_metrics(Namespace="N")["Metrics"]) == 1


def test_a_batch_has_limits(stream: Stream) -> None:
    # Each event counts 26 bytes more.
    fits = "m" * (1_048_576 // 2 - 26)
    stream.put(HOUR, HOUR, message=fits)

    assert stream.refusal(lambda: stream.put(HOUR, HOUR, message=f"{fits}m")) == (
        "Upload too large: 1048578 bytes exceeds limit of 1048576"
    )
    assert "in chronological order" in stream.refusal(lambda: stream.put(HOUR, 2 * HOUR))
    assert "cannot span more than 24 hours" in stream.refusal(lambda: stream.put(2 * DAY, HOUR))
    assert stream.count() == 2


def test_streams_are_described_while_others_are_created(
    client: Callable[..., Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = client("logs")
    logs.create_log_group(logGroupName=name)
    for stream in ("a", "b"):
        logs.create_log_stream(logGroupName=name, logStreamName=stream)
    describe = LogStream.to_describe_dict
    created: list[str] = []

    def while_a_job_starts(stream: LogStream) -> Any:
        if not created:
            created.append("c")
            logs.create_log_stream(logGroupName=name, logStreamName="c")
        return describe(stream)

    monkeypatch.setattr(LogStream, "to_describe_dict", while_a_job_starts)
    found = logs.describe_log_streams(logGroupName=name)["logStreams"]

    assert [each["logStreamName"] for each in found] == ["a", "b"]
    logs.delete_log_group(logGroupName=name)

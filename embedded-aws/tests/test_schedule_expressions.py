"""When the expressions of schedules mean, also where summer time begins and ends."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from embedded_aws.scheduler.expressions import parse

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("expression", "first", "last", "times"),
    [
        ("cron(30 2 * * ? *)", "2026-03-28", "2026-03-30T12:00", ["28T01:30", "30T00:30"]),
        (
            "cron(30 2 * * ? *)",
            "2026-10-24",
            "2026-10-26T12:00",
            ["24T00:30", "25T00:30", "26T01:30"],
        ),
        (
            "cron(0/30 8,20 ? * SAT 2026)",
            "2026-11-27",
            "2026-11-28T18:00",
            ["28T07:00", "28T07:30"],
        ),
        ("cron(0 0 1 JAN-MAR ? *)", "2026-11-27", "2027-01-02T00:00", ["31T23:00"]),
        ("at(2026-11-28T08:00:00)", "2026-11-27", "2026-11-29T00:00", ["28T07:00"]),
    ],
)
def test_an_expression_means_times(
    expression: str, first: str, last: str, times: list[str]
) -> None:
    found = parse(expression, BERLIN)
    begin, end = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (first, last))

    assert found
    assert [f"{each.astimezone(UTC):%dT%H:%M}" for each in found.times(begin, begin, end)] == times

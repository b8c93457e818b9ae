"""What is asked of the log of a pod."""

from typing import Any

import pytest

from trainshed.jobs.model import LogStream
from trainshed.orchestrators.eks.pod_logs import KubeletLogs

STREAM = LogStream(group="train", name="job-node-0-0-abcde")
NANO = 10**9


class JobSets:
    """Have one line, and keep what they are asked for."""

    def __init__(self, line: str) -> None:
        self.line, self.asked = line, list[Any]()

    def log(self, pod: str, *, since: int | None = None, tail: int | None = None) -> list[str]:
        self.asked.append(since)
        return [self.line]


@pytest.mark.parametrize(
    ("seconds", "since"),
    # The API server refuses what is not above 0.
    [(10, 70), (-59, 1), (-60, None), (-3600, None)],
    ids=["older", "little-ahead", "a-minute-ahead", "far-ahead"],
)
def test_the_clock_of_a_node_may_be_ahead(
    monkeypatch: pytest.MonkeyPatch, seconds: int, since: int | None
) -> None:
    now = 1_800_000_000
    monkeypatch.setattr("time.time", lambda: float(now))
    jobsets: Any = JobSets("2027-01-15T09:20:00Z new")

    page = KubeletLogs(jobsets=lambda: jobsets).page(STREAM, str((now - seconds) * NANO))

    assert jobsets.asked == [since]
    assert page.lines == ("new",)

"""A log stream of CloudWatch Logs, to which a process writes.

Documented: an event has a text of at least one character.
"""

import time
from collections.abc import Sequence
from typing import Any

from embedded_aws.logs.embedded_metrics import extract_metrics


class LogStream:
    """A new log stream.

    Args:
        logs: moto's backend of CloudWatch Logs.
        group: the log group, which exists.
        name: of the stream.
    """

    def __init__(self, logs: Any, group: str, name: str) -> None:
        self._logs, self._group, self._name = logs, group, name
        logs.create_log_stream(group, name)

    def write(self, lines: Sequence[str]) -> None:
        """Add an event for each line; after the group was deleted, they are lost."""
        if self._group not in self._logs.groups:
            return
        now = int(time.time() * 1000)
        texts = [line.removesuffix("\n") for line in lines]
        events = [{"timestamp": now, "message": text} for text in texts if text]
        if events:
            self._logs.put_log_events(self._group, self._name, events)
            account, region = self._logs.account_id, self._logs.region_name
            extract_metrics(account, region, self._group, texts)

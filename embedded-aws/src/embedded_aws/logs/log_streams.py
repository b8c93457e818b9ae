"""Log streams, which are listed while jobs, functions and nodes create others."""

from typing import Any

from moto.logs.models import LogGroup

from embedded_aws.actions import correction
from embedded_aws.steady_dicts import steady


@correction
def keep_streams_in_steady_dicts() -> None:
    """Keep the streams of a log group, in moto's plain dictionary, in a steady one."""
    original = LogGroup.__init__

    def with_steady_streams(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.streams = steady(self.streams)

    # mypy refuses replacing methods; moto offers no other way.
    LogGroup.__init__ = with_steady_streams  # type: ignore[method-assign]

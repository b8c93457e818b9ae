"""What a container prints, as its kubelet keeps it and `kubectl logs` reads it.

Kubernetes, "Logging Architecture": a kubelet keeps 10 MiB of a container's log before it begins a
new one, and shows the newest file alone. API reference, "read log of the specified Pod": the
options; a time is in front of each line where that is asked for.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from threading import Condition

_MOST_BYTES = 10 << 20
_ASK_SECONDS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Which lines are asked for.

    Attributes:
        follow: those to come, too, until the container ends.
        tail: how many of the last lines that are there; None for all.
        since: from when on; None for all.
        timestamps: each line begins with its time.
        limit: how many bytes at most; None for all.
    """

    follow: bool = False
    tail: int | None = None
    since: datetime | None = None
    timestamps: bool = False
    limit: int | None = None


class ContainerLog:
    """The log of one run of a container."""

    def __init__(self) -> None:
        self._lines: deque[tuple[datetime, bytes]] = deque()
        # Lines that are no longer kept, and bytes that are.
        self._gone, self._size = 0, 0
        self._over = False
        self._changed = Condition()

    def write(self, lines: Sequence[str]) -> None:
        """Add lines, each with its end or without it."""
        now = datetime.now(UTC)
        with self._changed:
            for line in lines:
                written = line.removesuffix("\n").encode() + b"\n"
                self._lines.append((now, written))
                self._size += len(written)
            while self._size > _MOST_BYTES:
                self._size -= len(self._lines.popleft()[1])
                self._gone += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody wait for more."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def read(self, options: LogOptions, gone: Callable[[], bool]) -> Iterator[bytes]:
        """Yield lines, as they come.

        Args:
            options: which.
            gone: returns whether the reader no longer reads; asked while no lines come.
        """
        left = options.limit
        for when, line in self._asked(options, gone):
            shown = f"{when:%Y-%m-%dT%H:%M:%S.%f}000Z ".encode() if options.timestamps else b""
            part = (shown + line)[:left]
            if not part:
                return
            left = None if left is None else left - len(part)
            yield part

    def _asked(
        self, options: LogOptions, gone: Callable[[], bool]
    ) -> Iterator[tuple[datetime, bytes]]:
        with self._changed:
            end = self._gone + len(self._lines)
        at = 0 if options.tail is None else max(end - options.tail, 0)
        while True:
            with self._changed:
                while options.follow and not self._over and at >= self._gone + len(self._lines):
                    if not self._changed.wait(_ASK_SECONDS) and gone():
                        return
                at = max(at, self._gone)
                there = list(islice(self._lines, at - self._gone, None))
            if not there:
                return
            at += len(there)
            for when, line in there:
                if options.since is None or when >= options.since:
                    yield when, line
            if not options.follow and at >= end:
                return

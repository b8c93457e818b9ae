"""What a boot takes: seconds and bytes received, step by step."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_STATE = Path("/run/trainshed/boot.json")


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        name: in one word.
        seconds: how long it took.
        received_bytes: what all network interfaces received meanwhile.
    """

    name: str
    seconds: float
    received_bytes: int


class BootTimes:
    """The steps of this boot; `system` is what was before this program, from the kernel's start on.

    Attributes:
        steps: in their order.
    """

    def __init__(self) -> None:
        self.steps = [Step("system", time.clock_gettime(time.CLOCK_BOOTTIME), _received_bytes())]

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step, whether it succeeds or not."""
        started, received = time.monotonic(), _received_bytes()
        try:
            yield
        finally:
            seconds = time.monotonic() - started
            self.steps.append(Step(name, seconds, _received_bytes() - received))

    def save(self, outcome: str) -> None:
        """Write how the boot went, and its steps, to `/run/trainshed/boot.json`."""
        _STATE.parent.mkdir(parents=True, exist_ok=True)
        document = {"outcome": outcome, "steps": [vars(step) for step in self.steps]}
        _STATE.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")

    def __str__(self) -> str:
        """Write it for people, for instance `12.1 s, 14 kB received: system 9.0 s 14 kB, ...`."""
        seconds = sum(step.seconds for step in self.steps)
        received = sum(step.received_bytes for step in self.steps)
        parts = (
            f"{step.name} {step.seconds:.1f} s {_kilobytes(step.received_bytes)}"
            for step in self.steps
        )
        return f"{seconds:.1f} s, {_kilobytes(received)} received: {', '.join(parts)}"


def _received_bytes() -> int:
    counters = Path("/sys/class/net").glob("*/statistics/rx_bytes")
    return sum(int(path.read_text(encoding="ascii")) for path in counters if path.parts[-3] != "lo")


def _kilobytes(count: int) -> str:
    return f"{count / 1000:.0f} kB"

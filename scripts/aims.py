"""Whether what a benchmark measured meets what the project aims at."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """A limit, and what the runs of one benchmark measured.

    Attributes:
        what: what was measured, with its unit.
        limit: the most that it may be.
        runs: what each run measured.
    """

    what: str
    limit: float
    runs: Sequence[float]

    @property
    def measured(self) -> float:
        """The median."""
        return statistics.median(self.runs)

    @property
    def noise(self) -> float:
        """Half of the range that the middle half of the runs covers."""
        if len(self.runs) == 1:
            return 0
        low, _, high = statistics.quantiles(self.runs, n=4, method="inclusive")
        return (high - low) / 2

    @property
    def verdict(self) -> str:
        """`met`, `within the noise`, or `missed`."""
        if self.measured <= self.limit:
            return "met"
        return "missed" if self.measured - self.noise > self.limit else "within the noise"


def table(aims: Sequence[Aim]) -> list[str]:
    """Write aims as the rows of a page."""
    lines = ["| what | aim | measured | noise | |", "|---|---|---|---|---|"]
    for aim in aims:
        lines.append(
            f"| {aim.what} | {aim.limit:g} | {aim.measured:.3g} | {aim.noise:.2g} | {aim.verdict} |"
        )
    return lines


def missed(aims: Sequence[Aim]) -> Iterator[str]:
    """Say which aims are missed by more than the noise."""
    for aim in aims:
        if aim.verdict == "missed":
            yield (
                f"missed: {aim.what} is {aim.measured:.3g} (noise {aim.noise:.2g}), "
                f"the aim is {aim.limit:g}"
            )

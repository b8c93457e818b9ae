"""How large a checkpoint is, and what part of the time its writing takes from training."""

from dataclasses import dataclass

from trainshed.spec import TrainingSpec

# Mixed precision with Adam: weights in 16 bits (2 bytes), and in 32 bits the weights (4), momentum
# (4) and variance (4): "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models",
# arXiv 1910.02054, section 3.1. Gradients, 2 bytes more there, are not needed to go on.
BYTES_PER_PARAMETER = 14
# Without weights in 32 bits but with gradients, as in "Cut Checkpoint Costs with About 30 Lines of
# Python and NVIDIA nvCOMP", developer.nvidia.com, 2026-04: 782 GiB for 70e9 parameters; and with
# both, as in the paper.
LEAST_BYTES, MOST_BYTES = 12, 16
# The newest complete one must stay until the next one is complete.
KEPT = 2
GB_PER_GIB = 1.024**3
# As many hours as a month of trainshed.cost has.
_MINUTES_PER_MONTH = 730 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The checkpoints of a training, during which all accelerators wait.

    Attributes:
        gb: size of one, in GB of 1000 MB.
        minutes: of training between two of them.
        dataset_gb: room that the data set takes beside them.
    """

    gb: float
    minutes: float
    dataset_gb: float

    def seconds(self, mbps: float) -> float:
        """Return how long one takes to write."""
        return self.gb * 1000 / mbps

    def lost(self, mbps: float) -> float:
        """Return which part of all time accelerators wait: t / (interval + t)."""
        seconds = self.seconds(mbps)
        return seconds / (self.minutes * 60 + seconds)

    def mbps_for(self, lost: float) -> float:
        """Return how many MB/s lose no more than a part of the time."""
        return self.gb * 1000 / (self.minutes * 60 * lost / (1 - lost))

    def minutes_for(self, mbps: float, lost: float) -> float:
        """Return how far apart checkpoints have to be to lose no more than a part of the time."""
        return self.seconds(mbps) / 60 * (1 - lost) / lost

    @property
    def background_mbps(self) -> float:
        """MB/s that finish one, written in the background, before the next one begins."""
        return self.gb * 1000 / (self.minutes * 60)

    @property
    def kept_gb(self) -> float:
        """Room that the data set and the checkpoints that must be there take."""
        return self.dataset_gb + KEPT * self.gb

    def written_gb_per_month(self, mbps: float) -> float:
        """Return how much is written in a month in which nothing but this training runs."""
        return self.gb * _MINUTES_PER_MONTH / (self.minutes + self.seconds(mbps) / 60)


def checkpoint_of(training: TrainingSpec) -> Checkpoint:
    """Return the checkpoints of a training."""
    return Checkpoint(
        gb=training.parameters * BYTES_PER_PARAMETER / 1e9,
        minutes=training.checkpoint_minutes,
        dataset_gb=training.dataset_gib * GB_PER_GIB,
    )

"""What a process computes on: a CPU, a GPU, a Gaudi or a NeuronCore."""

from __future__ import annotations

import os
from collections.abc import Sequence

import torch
from torch import distributed


class Device:
    """A CPU or a GPU; the base of the others.

    Args:
        kind: `cpu` or `cuda`.
        backend: of PyTorch's collectives.
    """

    def __init__(self, kind: str, backend: str) -> None:
        self.kind = kind
        self.backend = backend
        self.torch = torch.device(kind)

    def join(self) -> None:
        """Meet the other processes, whose addresses torchrun has set."""
        distributed.init_process_group(self.backend)

    def leave(self) -> None:
        """Leave the others, when all have come so far."""
        distributed.destroy_process_group()

    def sum(self, numbers: Sequence[float]) -> list[float]:
        """Return the sums of numbers over all processes."""
        total = torch.tensor(numbers, dtype=torch.float, device=self.torch)
        distributed.all_reduce(total)
        added: list[float] = total.tolist()
        return added

    def seed(self, number: int) -> None:
        """Set the seed of what the model draws."""
        torch.manual_seed(number)

    def flush(self) -> None:
        """Have what was asked for computed, on devices that otherwise wait for more."""


def make_device(kind: str) -> Device:
    """Return the device of this process.

    Args:
        kind: `cpu`, `cuda`, `hpu` or `xla`.
    """
    if kind == "hpu":
        from trainshed_bert.device_hpu import Gaudi

        return Gaudi()
    if kind == "xla":
        from trainshed_bert.device_xla import NeuronCore

        return NeuronCore()
    if kind == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        return Device("cuda", "nccl")
    return Device("cpu", "gloo")

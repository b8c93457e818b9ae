"""What a process computes on: a CPU, a GPU, a Gaudi or a NeuronCore.

torchrun's LOCAL_RANK says which of the node's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import torch
from torch import distributed


class Device:
    """A CPU or a GPU; the base of the others."""

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


class Gaudi(Device):
    """A Gaudi, through Habana's PyTorch bridge. Not proven: no Gaudi has run this.

    docs.habana.ai, "Distributed Training with PyTorch", and Model-References, deepspeed-bert.
    """

    def __init__(self) -> None:
        import habana_frameworks.torch.core as habana
        import habana_frameworks.torch.distributed.hccl  # noqa: F401  # adds the backend
        import habana_frameworks.torch.hpu.random as habana_random

        super().__init__("hpu", "hccl")
        self._habana, self._random = habana, habana_random

    def seed(self, number: int) -> None:
        """Set the seed of what the model draws."""
        super().seed(number)
        self._random.manual_seed(number)

    def flush(self) -> None:
        """In lazy mode, the bridge collects operations until it is told to run them."""
        self._habana.mark_step()


class NeuronCore(Device):
    """A NeuronCore, through PyTorch/XLA. Not proven: no Trainium has run this.

    AWS Neuron, "Developer Guide for Training with PyTorch NeuronX", and aws-neuron-samples,
    dp_bert_hf_pretrain. PyTorch for Neuron ended with SDK 2.30.
    """

    def __init__(self) -> None:
        import torch_xla.core.xla_model as xla
        import torch_xla.distributed.xla_backend  # noqa: F401  # adds the backend

        super().__init__("xla", "xla")
        self._xla = xla
        self.torch = xla.xla_device()

    def seed(self, number: int) -> None:
        """Set the seed of what the model draws."""
        super().seed(number)
        self._xla.set_rng_state(number)

    def flush(self) -> None:
        """Compile what was collected, the first time, and run it."""
        self._xla.mark_step()


def make_device(kind: str) -> Device:
    """Return the device of this process."""
    if kind == "hpu":
        return Gaudi()
    if kind == "xla":
        return NeuronCore()
    if kind == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        return Device("cuda", "nccl")
    return Device("cpu", "gloo")

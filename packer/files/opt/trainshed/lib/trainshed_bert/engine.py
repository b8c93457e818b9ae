"""What trains a model on all processes together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import torch

from trainshed_bert.arguments import Arguments
from trainshed_bert.batch import Batch
from trainshed_bert.device import Device


class Engine(Protocol):
    """The way in which processes share the work."""

    def train(self, batches: Iterable[Batch], rate: float) -> float:
        """Take one step, by a learning rate; return this process's mean loss before it."""

    def save(self, folder: Path) -> None:
        """Write this process's part of weights and optimizer to a folder."""

    def load(self, folder: Path) -> None:
        """Read what `save` has written."""


def make_engine(arguments: Arguments, model: torch.nn.Module, device: Device) -> Engine:
    """Return DeepSpeed's engine, or without ZeRO the one that needs PyTorch alone."""
    if arguments.zero:
        from trainshed_bert.deepspeed_engine import DeepSpeedEngine

        return DeepSpeedEngine(arguments, model, device)
    from trainshed_bert.data_parallel import DataParallel

    return DataParallel(arguments, model, device)

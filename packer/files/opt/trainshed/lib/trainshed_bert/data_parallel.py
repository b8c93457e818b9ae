"""Data parallel training by PyTorch alone: all weights and the whole optimizer in each process.

It is what the published run on Trainium does: gradients are added up over the micro-batches,
then over the processes, clipped, and applied.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import distributed

from trainshed_bert.arguments import Arguments
from trainshed_bert.batch import Batch
from trainshed_bert.device import Device
from trainshed_bert.optimizers import make_optimizer

_FILE = "weights-and-optimizer.pt"
# Elements that are sent at once: many small messages would take longer.
_BUCKET = 2**25
_LONGEST_GRADIENT = 1.0


class DataParallel:
    """Weights in single precision, computed with in BF16.

    Args:
        arguments: of the training.
        model: to train; the same in each process.
        device: of this process.
    """

    def __init__(self, arguments: Arguments, model: torch.nn.Module, device: Device) -> None:
        self._model = model.to(device.torch)
        self._optimizer = make_optimizer(arguments.optimizer, self._model)
        self._accumulation = arguments.accumulation
        self._device = device

    def train(self, batches: Iterable[Batch], rate: float) -> float:
        """Take one step, by a learning rate; return this process's mean loss before it."""
        losses = []
        for batch in batches:
            with torch.autocast(self._device.kind, torch.bfloat16):
                loss = self._model(*batch.to(self._device.torch))
            (loss / self._accumulation).backward()
            self._device.flush()
            losses.append(loss.detach())
        self._average_gradients()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), _LONGEST_GRADIENT)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.step()
        self._optimizer.zero_grad()
        self._device.flush()
        return float(torch.stack(losses).mean())

    def _average_gradients(self) -> None:
        for bucket in _buckets([each.grad for each in self._model.parameters()]):
            together = torch.cat([gradient.flatten() for gradient in bucket])
            distributed.all_reduce(together)
            together /= distributed.get_world_size()
            parts = together.split([gradient.numel() for gradient in bucket])
            for gradient, part in zip(bucket, parts):
                gradient.copy_(part.view_as(gradient))

    def save(self, folder: Path) -> None:
        """Write weights and optimizer to a folder; all processes have the same."""
        if distributed.get_rank() == 0:
            both = {"model": self._model.state_dict(), "optimizer": self._optimizer.state_dict()}
            torch.save(_on_cpu(both), folder / _FILE)

    def load(self, folder: Path) -> None:
        """Read what `save` has written."""
        both = torch.load(folder / _FILE, map_location="cpu")
        self._model.load_state_dict(both["model"])
        self._optimizer.load_state_dict(both["optimizer"])


def _buckets(gradients: list[torch.Tensor]) -> Iterable[list[torch.Tensor]]:
    bucket: list[torch.Tensor] = []
    for gradient in gradients:
        bucket.append(gradient)
        if sum(each.numel() for each in bucket) >= _BUCKET:
            yield bucket
            bucket = []
    if bucket:
        yield bucket


def _on_cpu(state: Any) -> Any:
    """Return a state with its tensors in ordinary memory, from where any device reads them."""
    if isinstance(state, torch.Tensor):
        return state.detach().cpu()
    if isinstance(state, dict):
        return {name: _on_cpu(part) for name, part in state.items()}
    return [_on_cpu(part) for part in state] if isinstance(state, list) else state

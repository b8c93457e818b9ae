"""The ways in which processes share the work: ZeRO by DeepSpeed, or PyTorch alone."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Union

import torch
from torch import distributed

from trainshed_bert.batches import Batch
from trainshed_bert.devices import Device
from trainshed_bert.optimizers import make_optimizer
from trainshed_bert.settings import Arguments

_FILE = "weights-and-optimizer.pt"
# Elements that are sent at once: many small messages would take longer.
_BUCKET = 2**25
_LONGEST_GRADIENT = 1.0


class DataParallel:
    """All weights and the whole optimizer in each process, in single precision; BF16 computes.

    The published run on Trainium does so: gradients are added up over the micro-batches, then
    over the processes, clipped, and applied.
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
        """Write weights and optimizer, of which all processes have the same, to a folder."""
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


_FOLDER = "deepspeed"


class DeepSpeedEngine:
    """ZeRO by DeepSpeed, the same on Gaudi, GPUs and CPUs.

    Habana Model-References, deepspeed_config_bert_1.5b.json and _5b_lans.json.
    """

    def __init__(self, arguments: Arguments, model: torch.nn.Module, device: Device) -> None:
        # Otherwise it looks for an accelerator by itself, and warns that it finds none.
        os.environ.setdefault("DS_ACCELERATOR", device.kind)
        import deepspeed

        # It uses names of PyTorch that newer releases warn of.
        warnings.filterwarnings("ignore", category=FutureWarning, module="torch.distributed")
        # Adds up in the memory of one machine, on CPUs. It is compiled for minutes, and takes the
        # nodes of a rehearsal for one.
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
        zero: dict[str, object] = {"stage": arguments.zero, "contiguous_gradients": False}
        if arguments.zero > 1:
            zero |= {
                "overlap_comm": False,
                "reduce_scatter": False,
                "reduce_bucket_size": 150_000_000,
            }
        optimizer = make_optimizer(arguments.optimizer, model)
        self._engine, *_ = deepspeed.initialize(
            model=model,
            optimizer=optimizer,
            config={
                "train_micro_batch_size_per_gpu": arguments.micro_batch,
                "gradient_accumulation_steps": arguments.accumulation,
                "bf16": {"enabled": True},
                "gradient_clipping": 1.0,
                "zero_optimization": zero,
                "zero_allow_untested_optimizer": True,
            },
        )
        # Older releases begin with a step of their own, by gradients of 0; it does not count.
        for state in optimizer.state.values():
            state["step"].zero_()
        self._device = device

    def train(self, batches: Iterable[Batch], rate: float) -> float:
        """Take one step, by a learning rate; return this process's mean loss before it."""
        for group in self._engine.optimizer.param_groups:
            group["lr"] = rate
        losses = []
        for batch in batches:
            loss = self._engine(*batch.to(self._device.torch))
            self._engine.backward(loss)
            self._device.flush()
            self._engine.step()
            self._device.flush()
            losses.append(loss.detach())
        return float(torch.stack(losses).mean())

    def save(self, folder: Path) -> None:
        """Write this process's part of weights and optimizer to a folder."""
        self._engine.save_checkpoint(str(folder), tag=_FOLDER, save_latest=False)

    def load(self, folder: Path) -> None:
        """Read what `save` has written."""
        self._engine.load_checkpoint(str(folder), tag=_FOLDER)


Engine = Union[DataParallel, DeepSpeedEngine]

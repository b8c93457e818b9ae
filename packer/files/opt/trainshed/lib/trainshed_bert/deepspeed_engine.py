"""ZeRO by DeepSpeed: the same on Gaudi, GPUs and CPUs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path

import torch

from trainshed_bert.arguments import Arguments
from trainshed_bert.batch import Batch
from trainshed_bert.device import Device
from trainshed_bert.optimizers import make_optimizer

_FOLDER = "deepspeed"


class DeepSpeedEngine:
    """DeepSpeed's engine, with the settings of the published runs.

    [S] Habana Model-References, deepspeed_config_bert_1.5b.json and _5b_lans.json: BF16, gradients
    clipped at 1.0; without the overlap and the scattering of gradients for stage 2, whose buckets
    have 150 million elements.

    Args:
        arguments: of the training.
        model: to train.
        device: of this process.
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

"""Gaudi, through Habana's PyTorch bridge. Not proven: no Gaudi has run this.

[S] docs.habana.ai, "Distributed Training with PyTorch" (the module `hccl` and its backend), and the
calls of Model-References, PyTorch/nlp/DeepSpeedExamples/deepspeed-bert/run_pretraining.py
(`mark_step` after each backward pass and each step).
"""

from __future__ import annotations

import habana_frameworks.torch.core as habana
import habana_frameworks.torch.distributed.hccl  # noqa: F401  # adds the backend
import habana_frameworks.torch.hpu.random as habana_random

from trainshed_bert.device import Device


class Gaudi(Device):
    """A Gaudi; torchrun's LOCAL_RANK says which of the node's."""

    def __init__(self) -> None:
        super().__init__("hpu", "hccl")

    def seed(self, number: int) -> None:
        """Set the seed of what the model draws."""
        super().seed(number)
        habana_random.manual_seed(number)

    def flush(self) -> None:
        """In lazy mode, the bridge collects operations until it is told to run them."""
        habana.mark_step()

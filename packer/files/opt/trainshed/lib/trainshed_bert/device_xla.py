"""A NeuronCore of Trainium, through PyTorch/XLA. Not proven: no Trainium has run this.

[S] AWS Neuron documentation, "Developer Guide for Training with PyTorch NeuronX" (torchrun, the
module `xla_backend` and its backend), and aws-neuron-samples,
torch-neuronx/training/dp_bert_hf_pretrain (`mark_step`). PyTorch for Neuron ended with SDK 2.30.
"""

from __future__ import annotations

import torch_xla.core.xla_model as xla
import torch_xla.distributed.xla_backend  # noqa: F401  # adds the backend

from trainshed_bert.device import Device


class NeuronCore(Device):
    """A NeuronCore; torchrun's LOCAL_RANK says which of the node's."""

    def __init__(self) -> None:
        super().__init__("xla", "xla")
        self.torch = xla.xla_device()

    def seed(self, number: int) -> None:
        """Set the seed of what the model draws."""
        super().seed(number)
        xla.set_rng_state(number)

    def flush(self) -> None:
        """Compile what was collected, the first time, and run it."""
        xla.mark_step()

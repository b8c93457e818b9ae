"""LAMB and LANS, the optimizers of the published runs, and AdamW.

LAMB: You et al. 2019, "Large Batch Optimization for Deep Learning", algorithm 2. LANS: Zheng et al.
2020, "Accelerated Large Batch Optimization of BERT Pretraining in 54 minutes", algorithm 2.

With ZeRO, DeepSpeed gives an optimizer what it shards: a rank's part of all weights as one tensor.
So LAMB and LANS scale the step of that part, not of each layer; the published runs, too.
"""

from __future__ import annotations

import torch

_DECAY = 0.01
_EPSILON = 1e-6
_BETAS = (0.9, 0.999)


def make_optimizer(name: str, model: torch.nn.Module) -> torch.optim.Optimizer:
    """Return an optimizer whose learning rate is still 0: each step sets it."""
    parameters = list(model.parameters())
    # Not those of biases and normalisations.
    groups = [
        {"params": [each for each in parameters if each.dim() > 1], "weight_decay": _DECAY},
        {"params": [each for each in parameters if each.dim() == 1], "weight_decay": 0.0},
    ]
    if name == "adamw":
        return torch.optim.AdamW(groups, lr=0.0, betas=_BETAS, eps=_EPSILON)
    return Lans(groups) if name == "lans" else Lamb(groups)


class Lamb(torch.optim.Optimizer):
    """Adam whose step is as large as the weights that it changes."""

    def __init__(self, groups: object) -> None:
        super().__init__(groups, {"lr": 0.0})

    def step(self, closure: None = None) -> None:
        """Change the weights by their gradients."""
        with torch.no_grad():
            for group in self.param_groups:
                for weights in group["params"]:
                    if weights.grad is not None:
                        change = self._change(weights, group["weight_decay"])
                        weights.sub_(change * group["lr"])

    def _change(self, weights: torch.Tensor, decay: float) -> torch.Tensor:
        mean, spread = self._averages(weights, weights.grad)
        return _scaled(weights, mean / spread + decay * weights)

    def _averages(
        self, weights: torch.Tensor, gradient: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the mean of the gradients so far, and the root of that of their squares."""
        state = self.state[weights]
        if not state:
            state["step"] = torch.zeros((), device=weights.device)
            state["mean"] = torch.zeros_like(weights)
            state["square"] = torch.zeros_like(weights)
        state["step"] += 1
        first, second = _BETAS
        state["mean"].mul_(first).add_(gradient, alpha=1 - first)
        state["square"].mul_(second).addcmul_(gradient, gradient, value=1 - second)
        mean = state["mean"] / (1 - first ** state["step"])
        square = state["square"] / (1 - second ** state["step"])
        return mean, square.sqrt() + _EPSILON


class Lans(Lamb):
    """LAMB on gradients of length 1, which looks ahead as Nesterov does."""

    def _change(self, weights: torch.Tensor, decay: float) -> torch.Tensor:
        gradient = weights.grad / (weights.grad.norm() + _EPSILON)
        mean, spread = self._averages(weights, gradient)
        first = _BETAS[0]
        return first * _scaled(weights, mean / spread + decay * weights) + (1 - first) * _scaled(
            weights, gradient / spread + decay * weights
        )


def _scaled(weights: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
    """Return a change as long as the weights; as it is where one of them is 0."""
    length, wanted = change.norm(), weights.norm()
    # No `if`, for which an accelerator would have to wait.
    return change * torch.where((length > 0) & (wanted > 0), wanted / length, 1.0)

"""What a model is given at once."""

from __future__ import annotations

from typing import NamedTuple

import torch

# Of masked tokens that a sequence does not have; cross entropy leaves them out.
IGNORED = -100


class Batch(NamedTuple):
    """Some sequences; a row is a sequence.

    Attributes:
        tokens: with some of them masked.
        segments: 0 in the first sentence, 1 in the second.
        mask: 1 where there is a token, 0 after the end.
        positions: of the masked tokens.
        labels: what was there; IGNORED where a row has fewer masked tokens.
        unrelated: 1 if the second sentence does not follow the first, for each sequence.
    """

    tokens: torch.Tensor
    segments: torch.Tensor
    mask: torch.Tensor
    positions: torch.Tensor
    labels: torch.Tensor
    unrelated: torch.Tensor

    def to(self, device: torch.device) -> Batch:
        """Return it on a device."""
        return Batch(*(part.to(device) for part in self))

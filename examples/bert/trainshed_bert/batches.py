"""What a model is given at once, and random numbers that a resumed training draws again."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import torch

# Of masked tokens that a sequence does not have; cross entropy leaves them out.
IGNORED = -100


class Batch(NamedTuple):
    """Some sequences; a row is a sequence.

    Attributes:
        segments: 0 in the first sentence, 1 in the second.
        mask: 1 where there is a token, 0 after the end.
        positions: of the masked tokens.
        labels: what was there; IGNORED where a row has fewer masked tokens.
        unrelated: 1 if the second sentence does not follow the first.
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


def derived_seed(*purpose: int) -> int:
    """Return a seed for one purpose, for instance the seed of the training, a rank and a step."""
    digest = hashlib.sha256(repr(purpose).encode()).digest()
    return int.from_bytes(digest[:6], "big")


def generator(*purpose: int) -> torch.Generator:
    """Return a generator for one purpose."""
    return torch.Generator().manual_seed(derived_seed(*purpose))

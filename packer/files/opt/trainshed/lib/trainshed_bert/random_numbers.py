"""Random numbers that depend on what they are for, so that a resumed training draws the same."""

from __future__ import annotations

import hashlib

import torch


def derived_seed(*purpose: int) -> int:
    """Return a seed for one purpose, for instance the seed of the training, a rank and a step."""
    digest = hashlib.sha256(repr(purpose).encode()).digest()
    return int.from_bytes(digest[:6], "big")


def generator(*purpose: int) -> torch.Generator:
    """Return a generator for one purpose."""
    return torch.Generator().manual_seed(derived_seed(*purpose))

"""Sentences that nobody wrote, with enough structure that a model learns to predict them."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from trainshed_bert.batches import Batch, generator
from trainshed_bert.settings import Arguments

_CLS, _SEP, _MASK, _FIRST = 1, 2, 3, 4
_MASKED = 0.15


def synthetic_batches(asked: Arguments, *, rank: int, start: int) -> Iterator[Batch]:
    """Yield batches without end; the same for the same arguments.

    Few tokens are frequent and most are rare, more so than in language, and each second token
    follows from the one before it. The second sentence, if it is related, begins as the first.

    Args:
        asked: the settings of the training.
        rank: whose part of the data it is.
        start: which batch is the first, from 0.
    """
    micro_batch, length = asked.micro_batch, asked.sequence_length
    words = asked.published.shape.vocabulary - _FIRST
    frequency = torch.arange(1, words + 1, dtype=torch.float) ** -1.5
    masks = max(1, int(length * _MASKED))
    first_half = (length - 3) // 2
    segments = torch.zeros(micro_batch, length, dtype=torch.long)
    segments[:, first_half + 2 :] = 1
    number = start
    while True:
        random = generator(asked.seed, rank, number)
        drawn = torch.multinomial(
            frequency, micro_batch * length, replacement=True, generator=random
        ).view(micro_batch, length)
        drawn[:, 1::2] = (drawn[:, 0:-1:2] + 1) % words
        tokens = drawn + _FIRST
        unrelated = torch.randint(2, (micro_batch,), generator=random)
        second = first_half + 2
        tokens[:, second] = torch.where(unrelated == 1, tokens[:, second], tokens[:, 1])
        tokens[:, 0], tokens[:, first_half + 1], tokens[:, -1] = _CLS, _SEP, _SEP
        chances = torch.rand(micro_batch, length, generator=random)
        chances[tokens < _FIRST] = 0.0
        positions = chances.topk(masks, dim=1).indices.sort(dim=1).values
        labels = tokens.gather(1, positions)
        yield Batch(
            tokens=tokens.scatter(1, positions, _MASK),
            segments=segments,
            mask=torch.ones_like(tokens),
            positions=positions,
            labels=labels,
            unrelated=unrelated,
        )
        number += 1

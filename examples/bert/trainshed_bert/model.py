"""BERT for pre-training: Devlin et al. 2018, appendix A.2.

It predicts the masked tokens at their positions only, which gives the same loss as predicting all
tokens and leaving the others out, as the published scripts do, for a sixth of the computation.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from trainshed_bert.batches import IGNORED
from trainshed_bert.settings import Shape

_DROPOUT = 0.1
_SPREAD = 0.02
_EPSILON = 1e-12


class Bert(nn.Module):
    """The model, with both its heads; its result is its loss."""

    def __init__(self, shape: Shape, *, recompute: bool = False) -> None:
        super().__init__()
        hidden = shape.hidden
        self._recompute = recompute
        self.words = nn.Embedding(shape.vocabulary, hidden)
        self.places = nn.Embedding(shape.positions, hidden)
        self.segments = nn.Embedding(2, hidden)
        self.layers = nn.ModuleList(_Layer(shape) for _ in range(shape.layers))
        # After the embeddings, or after the last layer: where the layers have none.
        self.norm = nn.LayerNorm(hidden, eps=_EPSILON)
        self._norm_first = shape.norm_first
        self.pooler = nn.Linear(hidden, hidden)
        self.transform = nn.Linear(hidden, hidden)
        self.transform_norm = nn.LayerNorm(hidden, eps=_EPSILON)
        self.word_bias = nn.Parameter(torch.zeros(shape.vocabulary))
        self.next_sentence = nn.Linear(hidden, 2)
        self.dropout = nn.Dropout(_DROPOUT)
        self.apply(_initialise)

    def forward(
        self,
        tokens: torch.Tensor,
        segments: torch.Tensor,
        mask: torch.Tensor,
        positions: torch.Tensor,
        labels: torch.Tensor,
        unrelated: torch.Tensor,
    ) -> torch.Tensor:
        """Return the mean loss of the masked tokens plus that of the next sentences.

        The arguments are those of a `Batch`.
        """
        places = torch.arange(tokens.shape[1], device=tokens.device)
        inner = self.words(tokens) + self.places(places) + self.segments(segments)
        if not self._norm_first:
            inner = self.norm(inner)
        inner = self.dropout(inner)
        # Added to the scores of attention: nobody looks at what is after the end.
        hidden = (1.0 - mask[:, None, None, :].to(inner.dtype)) * -10000.0
        for layer in self.layers:
            if self._recompute:
                inner = checkpoint(layer, inner, hidden, use_reentrant=False)
            else:
                inner = layer(inner, hidden)
        if self._norm_first:
            inner = self.norm(inner)
        masked = inner.gather(1, positions[:, :, None].expand(-1, -1, inner.shape[2]))
        masked = self.transform_norm(functional.gelu(self.transform(masked)))
        words = functional.linear(masked, self.words.weight, self.word_bias)
        related = self.next_sentence(torch.tanh(self.pooler(inner[:, 0])))
        # In single precision: sums over the vocabulary lose too much otherwise.
        return functional.cross_entropy(
            words.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED
        ) + functional.cross_entropy(related.float(), unrelated)


class _Layer(nn.Module):
    """One layer of the encoder."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        hidden = shape.hidden
        self._heads = shape.heads
        self._norm_first = shape.norm_first
        self.query_key_value = nn.Linear(hidden, 3 * hidden)
        self.output = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=_EPSILON)
        self.wide = nn.Linear(hidden, 4 * hidden)
        self.narrow = nn.Linear(4 * hidden, hidden)
        self.feed_norm = nn.LayerNorm(hidden, eps=_EPSILON)
        self.dropout = nn.Dropout(_DROPOUT)

    def forward(self, inner: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        if self._norm_first:
            inner = inner + self._attend(self.attention_norm(inner), hidden)
            return inner + self._feed(self.feed_norm(inner))
        inner = self.attention_norm(inner + self._attend(inner, hidden))
        return self.feed_norm(inner + self._feed(inner))

    def _attend(self, inner: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        batch, length, width = inner.shape
        parts = self.query_key_value(inner).view(batch, length, 3, self._heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(2, 3) / math.sqrt(width // self._heads)
        shares = self.dropout(torch.softmax(scores + hidden, dim=-1))
        found = (shares @ value).transpose(1, 2).reshape(batch, length, width)
        return self.dropout(self.output(found))

    def _feed(self, inner: torch.Tensor) -> torch.Tensor:
        return self.dropout(self.narrow(functional.gelu(self.wide(inner))))


def _initialise(module: nn.Module) -> None:
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=_SPREAD)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)

"""The learning rate of each step."""

from __future__ import annotations

from trainshed_bert.published import Published


def rate(step: int, steps: int, highest: float, published: Published) -> float:
    """Return the learning rate: it rises from 0, stays, and falls to 0 at the last step.

    Args:
        step: from 1.
        steps: of the whole training.
        highest: the highest rate.
        published: how it rises and falls.
    """
    done = step / steps
    level = published.warmup + published.constant
    if done < published.warmup:
        return highest * done / published.warmup
    if done < level:
        return highest
    left: float = ((1 - done) / (1 - level)) ** published.degree
    return highest * left

"""How the throughput of a node falls as there are more of them.

Each model has one parameter, fitted by least squares, and gives one node its own throughput. That
one is used which best predicts what it was not fitted on: the largest published count of each
training.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from trainshed.estimate.published import Scaling, scalings

# Fewer counts leave none to fit on beside the one of a single node and the one that is predicted.
_COUNTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingModel:
    """A model of the efficiency: a node's throughput among others, over its throughput alone.

    Attributes:
        name: of the model.
        formula: of the throughput of n nodes, where t is that of one and a is fitted.
        load: what the efficiency depends on, by how many nodes; 0 for one.
        loss: what is proportional to the load, by the efficiency.
        efficiency: the efficiency, by the loss.
    """

    name: str
    formula: str
    load: Callable[[int], float]
    loss: Callable[[float], float]
    efficiency: Callable[[float], float]

    def fit(self, per_second: Mapping[int, float]) -> Callable[[int], float]:
        """Return the throughput by how many nodes, as fitted to a measurement.

        Args:
            per_second: samples a second, by how many nodes; one node must be among them.
        """
        alone = per_second[1]
        points = [
            (self.load(nodes), self.loss(measured / nodes / alone))
            for nodes, measured in per_second.items()
            if nodes > 1
        ]
        a = sum(x * y for x, y in points) / sum(x * x for x, _ in points)
        return lambda nodes: nodes * alone * self.efficiency(a * self.load(nodes))


def _over_time(name: str, formula: str, load: Callable[[int], float]) -> ScalingModel:
    """Return a model in which a step takes longer by what is proportional to the load."""
    return ScalingModel(
        name=name,
        formula=formula,
        load=load,
        loss=lambda efficiency: 1 / efficiency - 1,
        efficiency=lambda loss: 1 / (1 + loss),
    )


MODELS = (
    ScalingModel(
        name="each doubling costs the same",
        formula="n x t x (1 - a x log2(n))",
        load=math.log2,
        loss=lambda efficiency: 1 - efficiency,
        efficiency=lambda loss: 1 - loss,
    ),
    _over_time("each node costs the same", "n x t / (1 + a x (n - 1))", lambda nodes: nodes - 1),
    _over_time(
        "a ring's data for each node",
        "n x t / (1 + a x (n - 1) / n)",
        lambda nodes: (nodes - 1) / nodes,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """A prediction of a published figure by a model that has not seen it.

    Attributes:
        model: the scaling model.
        formula: its formula.
        training: what was trained.
        fitted: the counts of nodes that it was fitted on.
        nodes: the count that it predicts.
        predicted: samples a second.
        published: samples a second.
    """

    model: str
    formula: str
    training: str
    fitted: tuple[int, ...]
    nodes: int
    predicted: float
    published: float

    @property
    def error_percent(self) -> float:
        """Error of the prediction; positive when it promises too much."""
        return 100 * (self.predicted / self.published - 1)


@cache
def check_models() -> tuple[HeldOut, ...]:
    """Have every model predict the largest count of each training from the smaller ones."""
    return tuple(
        _hold_out(model, training)
        for model in MODELS
        for training in scalings()
        if len(training.per_second) >= _COUNTS
    )


def _hold_out(model: ScalingModel, training: Scaling) -> HeldOut:
    largest = max(training.per_second)
    seen = {nodes: n for nodes, n in training.per_second.items() if nodes != largest}
    return HeldOut(
        model=model.name,
        formula=model.formula,
        training=training.model,
        fitted=tuple(seen),
        nodes=largest,
        predicted=model.fit(seen)(largest),
        published=training.per_second[largest],
    )


@cache
def scaling_model() -> tuple[ScalingModel, float]:
    """Return the model whose largest error is the smallest, and that error in percent."""

    def largest_error(model: ScalingModel) -> float:
        return max(abs(c.error_percent) for c in check_models() if c.model == model.name)

    best = min(MODELS, key=largest_error)
    return best, largest_error(best)

"""How fast a training is, how long it takes and what it costs: from published figures only."""

from trainshed.estimate.comparison import ComparedType, compare
from trainshed.estimate.published import Scaling, comparisons, scalings
from trainshed.estimate.purchases import BoughtTraining, by_purchase
from trainshed.estimate.scaling_model import HeldOut, check_models, scaling_model
from trainshed.estimate.training import Estimate, Range, estimate

__all__ = [
    "BoughtTraining",
    "ComparedType",
    "Estimate",
    "HeldOut",
    "Range",
    "Scaling",
    "by_purchase",
    "check_models",
    "compare",
    "comparisons",
    "estimate",
    "scaling_model",
    "scalings",
]

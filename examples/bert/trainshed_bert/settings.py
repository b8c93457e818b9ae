"""The published runs, phase 1, and the command line, whose options change them.

docs/bert.md names the sources.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

# sysexits.h: EX_CONFIG. Another attempt would end the same way.
CONFIGURATION_ERROR = 78
# [CLS], [SEP], [SEP], and two tokens of each sentence.
SHORTEST = 8


class BertError(Exception):
    """Something that the user must correct."""


class OneRankError(BertError):
    """Only this rank may know of it, so this rank reports it."""


class TrainingError(Exception):
    """The training itself failed."""


@dataclass(frozen=True)
class Shape:
    """What decides how many parameters a model has.

    Attributes:
        norm_first: layers normalise what comes in, not what goes out. Very deep models do not
            converge otherwise (Shoeybi et al. 2019, section 5.3).
        vocabulary: 30522 word pieces, padded to a multiple of 8.
    """

    layers: int
    hidden: int
    heads: int
    norm_first: bool = True
    vocabulary: int = 30528
    positions: int = 512


@dataclass(frozen=True)
class Published:
    """A model, and how it was trained on sequences of 128 tokens.

    Attributes:
        warmup: part of the steps in which the learning rate rises.
        constant: part of the steps in which it stays highest.
        degree: of the polynomial by which it falls afterwards.
        recompute: compute activations again in the backward pass, to save memory.
    """

    shape: Shape
    zero: int
    micro_batch: int
    accumulation: int
    steps: int
    optimizer: str
    learning_rate: float
    warmup: float
    constant: float = 0.0
    degree: float = 1.0
    recompute: bool = False


# The degree of 0.5 is the default of NVIDIA's PolyWarmUpScheduler, which Habana's script takes.
_340M = Published(
    shape=Shape(24, 1024, 16, norm_first=False),
    zero=1,
    micro_batch=64,
    accumulation=128,
    steps=7038,
    optimizer="lamb",
    learning_rate=0.006,
    warmup=0.2843,
    degree=0.5,
)
NEURON_340M = Published(
    shape=_340M.shape,
    zero=0,
    micro_batch=16,
    accumulation=32,
    steps=28_125,
    optimizer="adamw",
    learning_rate=4e-4,
    warmup=2000 / 28_125,
)
PUBLISHED = {
    # The rehearsal: the code of 1.5 billion, in seconds on CPUs. Nobody published it.
    "tiny": Published(
        shape=Shape(2, 64, 2, vocabulary=1024, positions=128),
        zero=1,
        micro_batch=8,
        accumulation=2,
        steps=20,
        optimizer="lans",
        learning_rate=0.05,
        warmup=0.05,
        constant=0.25,
    ),
    "340m": _340M,
    "1.5b": Published(
        shape=Shape(48, 1600, 25),
        zero=1,
        micro_batch=16,
        accumulation=24,
        steps=155_000,
        optimizer="lans",
        learning_rate=0.0015,
        warmup=0.05,
        constant=0.25,
    ),
    "5b": Published(
        shape=Shape(63, 2560, 40),
        zero=2,
        micro_batch=24,
        accumulation=4,
        steps=75_000,
        optimizer="lans",
        learning_rate=0.0015,
        warmup=0.05,
        constant=0.25,
        recompute=True,
    ),
}


@dataclass(frozen=True)
class Arguments:
    """What was asked: no data is synthetic data, and no number to keep is all checkpoints."""

    model: str
    device: str
    published: Published
    zero: int
    micro_batch: int
    accumulation: int
    sequence_length: int
    steps: int
    optimizer: str
    learning_rate: float
    data: Path | None
    checkpoint: Path
    checkpoint_every: int
    keep: int | None
    seed: int


def rate(step: int, asked: Arguments) -> float:
    """Return the learning rate of a step, from 1: it rises, stays, and falls to 0 at the last."""
    published, done = asked.published, step / asked.steps
    level = published.warmup + published.constant
    if done < published.warmup:
        return asked.learning_rate * done / published.warmup
    if done < level:
        return asked.learning_rate
    left: float = ((1 - done) / (1 - level)) ** published.degree
    return asked.learning_rate * left


def parse(words: Sequence[str], device: str) -> Arguments:
    """Return what the command line says; what it leaves out is as in the published run.

    Raises:
        BertError: it contradicts itself.
    """
    given = vars(_parser().parse_args(words))
    given.setdefault("device", device)
    published = PUBLISHED[given["model"]]
    if given["device"] == "xla" and given["model"] == "340m":
        published = NEURON_340M
    for name in _OPTIONS:
        given.setdefault(name, getattr(published, name))
    asked = Arguments(published=published, **given)
    length, positions = asked.sequence_length, published.shape.positions
    if not SHORTEST <= length <= positions:
        raise BertError(
            f"--sequence-length {length}: {asked.model} takes {SHORTEST} to {positions} tokens"
        )
    if asked.device == "xla" and asked.zero:
        raise BertError(
            f"--zero {asked.zero} needs DeepSpeed, which does not know Trainium; use --zero 0"
        )
    return asked


# What a published run says, and an option may change.
_OPTIONS = ("zero", "micro_batch", "accumulation", "steps", "optimizer", "learning_rate")


class _Parser(argparse.ArgumentParser):
    """argparse's own code of a usage error is 2."""

    def error(self, message: str) -> NoReturn:
        """Print the message, and end."""
        self.exit(CONFIGURATION_ERROR, f"bert: ERROR: {message}; see --help\n")


def _positive(word: str) -> int:
    if (number := int(word)) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _rate(word: str) -> float:
    if not 0 < (number := float(word)) < 1:
        raise argparse.ArgumentTypeError("must be between 0 and 1")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        description="Pre-train BERT, started by torchrun. What is left out is as in the published "
        "run of the model. See docs/bert.md.",
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    add = parser.add_argument
    add("--model", choices=list(PUBLISHED), required=True)
    add("--data", type=_data, required=True, help="folder of HDF5 shards, or synthetic")
    add(
        "--checkpoint",
        type=Path,
        required=True,
        help="folder that all nodes share; a training goes on from a checkpoint there",
    )
    add("--checkpoint-every", type=_positive, default=200, help="steps (%(default)s)")
    add("--keep", type=_positive, default=None, help="delete all but the last N checkpoints")
    add("--zero", type=int, choices=(0, 1, 2), help="stage of ZeRO; 0 is data parallel only")
    add("--micro-batch", type=_positive, help="sequences at once, on one device")
    add("--accumulation", type=_positive, help="micro-batches in a step")
    add("--sequence-length", type=_positive, default=128, help="(%(default)s)")
    add("--steps", type=_positive, help="of the whole training")
    add("--optimizer", choices=("lans", "lamb", "adamw"))
    add("--learning-rate", type=_rate, help="the highest")
    add("--seed", type=int, default=12439, help="(%(default)s)")
    add("--device", choices=("cpu", "cuda", "hpu", "xla"), help="(what there is)")
    return parser


def _data(word: str) -> Path | None:
    return None if word == "synthetic" else Path(word)

"""The command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from trainshed_bert.errors import CONFIGURATION_ERROR, BertError
from trainshed_bert.published import NEURON_340M, PUBLISHED, Published

SYNTHETIC = "synthetic"
DEVICES = ("cpu", "cuda", "hpu", "xla")


@dataclass(frozen=True)
class Arguments:
    """What was asked; see `parse` for what the words mean.

    Attributes:
        published: the settings of the published run, for what has no option.
        data: folder of shards, or None for synthetic data.
        keep: checkpoints that are kept, or None for all.
    """

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


class _Parser(argparse.ArgumentParser):
    """argparse's own code of a usage error is 2."""

    def error(self, message: str) -> NoReturn:
        """Print the message, and end."""
        self.exit(CONFIGURATION_ERROR, f"trainshed-bert: ERROR: {message}; see --help\n")


def parse(words: Sequence[str], device: str) -> Arguments:
    """Return what the command line says; what it leaves out is as in the published run.

    Args:
        words: of the command line.
        device: that this machine has.

    Raises:
        BertError: it contradicts itself.
    """
    asked = _parser().parse_args(words)
    device = device if asked.device == "auto" else asked.device
    published = PUBLISHED[asked.model]
    if device == "xla" and asked.model == "340m":
        published = NEURON_340M

    def chosen(name: str) -> object:
        given = getattr(asked, name)
        return getattr(published, name) if given is None else given

    arguments = Arguments(
        model=asked.model,
        device=device,
        published=published,
        data=None if asked.data == SYNTHETIC else Path(asked.data),
        checkpoint=asked.checkpoint,
        checkpoint_every=asked.checkpoint_every,
        keep=asked.keep,
        sequence_length=asked.sequence_length,
        seed=asked.seed,
        **{name: chosen(name) for name in _PUBLISHED_OPTIONS},  # type: ignore[arg-type] # by name
    )
    _check(arguments)
    return arguments


_PUBLISHED_OPTIONS = (
    "zero",
    "micro_batch",
    "accumulation",
    "steps",
    "optimizer",
    "learning_rate",
)


def _check(arguments: Arguments) -> None:
    positions = arguments.published.shape.positions
    if arguments.sequence_length > positions:
        raise BertError(
            f"--sequence-length {arguments.sequence_length} is more than the {positions} positions "
            f"of {arguments.model}; take a smaller one"
        )
    if arguments.sequence_length < SHORTEST:
        raise BertError(f"--sequence-length must be at least {SHORTEST}; take a larger one")
    if arguments.device == "xla" and arguments.zero:
        raise BertError(
            f"--zero {arguments.zero} needs DeepSpeed, which does not know Trainium; use --zero 0"
        )


# [CLS], [SEP], [SEP], and two tokens of each sentence.
SHORTEST = 8


def _positive(word: str) -> int:
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _rate(word: str) -> float:
    number = float(word)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError("must be between 0 and 1")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="trainshed-bert",
        description="Pre-train BERT: masked words and next sentences. Start it by torchrun: "
        "trainshed-launch torchrun --nproc-per-node 8 --no-python trainshed-bert ...",
        epilog="What is left out is as in the published run of the model. It exits with 0, with 1 "
        "when the training fails, with 78 when the settings must be corrected, with 143 when it "
        "was asked to end and has written a checkpoint.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--model", choices=list(PUBLISHED), required=True)
    add("--data", required=True, metavar="FOLDER", help="of HDF5 shards, or synthetic")
    add(
        "--checkpoint",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="that all nodes share; a training that has a checkpoint there goes on from it",
    )
    add("--checkpoint-every", type=_positive, default=200, metavar="STEPS", help="(%(default)s)")
    add("--keep", type=_positive, metavar="N", help="delete all but the last N checkpoints")
    add("--zero", type=int, choices=(0, 1, 2), help="stage of ZeRO; 0 is data parallel only")
    add("--micro-batch", type=_positive, metavar="N", help="sequences at once, on one device")
    add("--accumulation", type=_positive, metavar="N", help="micro-batches in a step")
    add("--sequence-length", type=_positive, default=128, metavar="N", help="(%(default)s)")
    add("--steps", type=_positive, metavar="N", help="of the whole training")
    add("--optimizer", choices=("lans", "lamb", "adamw"))
    add("--learning-rate", type=_rate, metavar="RATE", help="the highest")
    add("--seed", type=int, default=12439, help="(%(default)s)")
    add("--device", choices=("auto", *DEVICES), default="auto", help="(what there is)")
    return parser

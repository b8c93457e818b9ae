"""Pre-trains BERT: torchrun --nproc-per-node 8 train.py OPTION...; see docs/bert.md."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from trainshed_bert.settings import (
    CONFIGURATION_ERROR,
    Arguments,
    BertError,
    OneRankError,
    TrainingError,
    parse,
)

_ACCELERATORS = {"habana_frameworks": "hpu", "torch_xla": "xla"}


def _need(module: str, reason: str) -> None:
    if find_spec(module) is None:
        raise BertError(
            f"{sys.executable} has no {module}, which {reason} needs; install it in the container "
            "image, see docs/bert.md"
        )


def _device() -> str:
    for module, device in _ACCELERATORS.items():
        if find_spec(module):
            return device
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _arguments() -> Arguments:
    _need("torch", "training")
    arguments = parse(sys.argv[1:], _device())
    for module, device in _ACCELERATORS.items():
        if device == arguments.device:
            _need(module, f"--device {device}")
    if arguments.zero:
        _need("deepspeed", f"--zero {arguments.zero}")
    if arguments.data:
        _need("h5py", "--data")
    if "LOCAL_RANK" not in os.environ:
        raise BertError("torchrun did not start this process; put it in front of train.py")
    return arguments


def main() -> int:
    """Train; return the exit code."""
    try:
        arguments = _arguments()
        from trainshed_bert.training import train

        return train(arguments)
    except (BertError, TrainingError) as error:
        # Each node says once what all its processes know.
        if isinstance(error, OneRankError) or os.environ.get("LOCAL_RANK", "0") == "0":
            print(f"bert: ERROR: {error}", file=sys.stderr, flush=True)
        return CONFIGURATION_ERROR if isinstance(error, BertError) else 1


if __name__ == "__main__":
    sys.exit(main())

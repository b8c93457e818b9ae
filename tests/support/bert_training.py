"""Trainings of the smallest BERT, on nodes that share a folder for checkpoints."""

import re
import socket
from collections.abc import Sequence
from pathlib import Path

from launched_nodes import ROOT, Nodes

PROGRAM = ROOT / "examples/bert/train.py"
_STEP = re.compile(r"step (\d+) of \d+: loss (\d+\.\d+), \d+\.\d sequences/s$", re.M)
# A part of DeepSpeed that is not used here compiles otherwise, which takes a second. Threads of
# processes that share few CPUs wait for each other by spinning, as long as they compute.
VARIABLES = {"TORCHDYNAMO_DISABLE": "1", "OMP_NUM_THREADS": "1"}
# Nodes on loopback: gloo would take the interface that the host's name stands for.
ENVIRONMENT = {"GLOO_SOCKET_IFNAME": "lo", **VARIABLES}
TORCHRUN = ("torchrun", "--nproc-per-node", "1", "--master-port", "{port}")
PLAIN = (
    "sh",
    "-c",
    'MASTER_PORT={port} RANK=$NODE_RANK WORLD_SIZE=$NNODES LOCAL_RANK=0 exec python3 "$@"',
    "python3",
)
# Steps of BF16 take CPUs long, and longer than the rest.
SMALL_BATCHES = ("--micro-batch", "4", "--sequence-length", "16")


def start_bert(
    job: Nodes, checkpoint: Path, *options: str, starter: Sequence[str] = TORCHRUN
) -> None:
    """Start the training with one process on each node.

    Args:
        job: its nodes.
        checkpoint: folder for checkpoints.
        options: more of the training.
        starter: `TORCHRUN`, or `PLAIN`, which starts in half the time and ends with the exit code
            of the training.
    """
    # All addresses are listened on, those of other tests, too.
    with socket.create_server(("", 0)) as free:
        port = str(free.getsockname()[1])
    for index in range(job.nodes):
        job.start(
            index,
            *(word.format(port=port) for word in starter),
            str(PROGRAM),
            *("--model", "tiny", "--data", "synthetic", "--checkpoint", str(checkpoint)),
            *SMALL_BATCHES,
            *options,
            environment=ENVIRONMENT,
        )


def losses(said: str) -> dict[int, float]:
    """The losses that were printed, by their steps."""
    return {int(step): float(loss) for step, loss in _STEP.findall(said)}

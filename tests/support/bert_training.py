"""Trainings of the smallest BERT, on nodes that share a folder for checkpoints."""

import re
import socket
from pathlib import Path

from launched_nodes import ROOT, Nodes

PROGRAM = ROOT / "packer/files/opt/trainshed/trainshed-bert"
_STEP = re.compile(r"step (\d+) of \d+: loss (\d+\.\d+), \d+\.\d sequences/s$", re.M)
# Nodes on loopback: gloo would take the interface that the host's name stands for. And a part of
# DeepSpeed that is not used here compiles otherwise, which takes a second.
_ENVIRONMENT = {"GLOO_SOCKET_IFNAME": "lo", "TORCHDYNAMO_DISABLE": "1"}


def start_bert(job: Nodes, checkpoint: Path, *options: str) -> None:
    """Start the training with one process on each node."""
    # torchrun listens on all addresses, those of other tests, too.
    with socket.create_server(("", 0)) as free:
        port = str(free.getsockname()[1])
    torchrun = ("torchrun", "--nproc-per-node", "1", "--master-port", port, "--no-python")
    for index in range(job.nodes):
        job.start(
            index,
            *torchrun,
            str(PROGRAM),
            *("--model", "tiny", "--data", "synthetic", "--checkpoint", str(checkpoint)),
            *("--micro-batch", "4", *options),
            environment=_ENVIRONMENT,
        )


def losses(said: str) -> dict[int, float]:
    """The losses that were printed, by their steps."""
    return {int(step): float(loss) for step, loss in _STEP.findall(said)}

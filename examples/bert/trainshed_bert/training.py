"""The training: steps, what is printed of them, checkpoints, and how it ends."""

from __future__ import annotations

import math
import signal
from itertools import islice
from time import monotonic
from types import FrameType

from torch import distributed

from trainshed_bert.batches import derived_seed
from trainshed_bert.checkpoints import Checkpoints
from trainshed_bert.devices import Device, make_device
from trainshed_bert.engines import DataParallel, DeepSpeedEngine
from trainshed_bert.model import Bert
from trainshed_bert.settings import Arguments, TrainingError, rate
from trainshed_bert.shards import Shards
from trainshed_bert.synthetic import synthetic_batches

ASKED_TO_END = 128 + signal.SIGTERM


class _Request:
    """Whether this process was asked to end."""

    def __init__(self) -> None:
        self.made = False
        signal.signal(signal.SIGTERM, self._make)

    def _make(self, number: int, frame: FrameType | None) -> None:
        self.made = True


def train(arguments: Arguments) -> int:
    """Train to the last step, or until asked to end; return the exit code.

    Raises:
        BertError: the user must correct something.
        TrainingError: the loss is no number.
    """
    request = _Request()
    device = make_device(arguments.device)
    device.join()
    code = _train(arguments, device, request)
    device.leave()
    return code


def _train(arguments: Arguments, device: Device, request: _Request) -> int:
    rank, ranks = distributed.get_rank(), distributed.get_world_size()
    checkpoints = Checkpoints(arguments, device)
    device.seed(arguments.seed)
    model = Bert(arguments.published.shape, recompute=arguments.published.recompute)
    millions = sum(each.numel() for each in model.parameters()) / 1e6
    engine = (DeepSpeedEngine if arguments.zero else DataParallel)(arguments, model, device)
    done = checkpoints.resume(engine)
    start = done * arguments.accumulation
    if arguments.data:
        batches = Shards(arguments.data, arguments, rank=rank, ranks=ranks).batches(start)
    else:
        batches = synthetic_batches(arguments, rank=rank, start=start)
    sequences = arguments.micro_batch * arguments.accumulation * ranks
    _say(
        rank,
        f"BERT {arguments.model}, {millions:.1f} million parameters, on {ranks} {device.kind}, "
        f"ZeRO {arguments.zero}, {arguments.optimizer}, {sequences} sequences of "
        f"{arguments.sequence_length} tokens a step",
    )
    if done:
        _say(rank, f"goes on after step {done}, from {arguments.checkpoint}")
    began, before = monotonic(), done
    loss = math.nan
    while done < arguments.steps:
        step = done + 1
        step_began = monotonic()
        # What the model draws for its dropout is the same when the step is repeated.
        device.seed(derived_seed(arguments.seed, rank, step))
        own = engine.train(
            islice(batches, arguments.accumulation),
            rate(step, arguments),
        )
        total, requests = device.sum([own, float(request.made)])
        loss, done = total / ranks, step
        if not math.isfinite(loss):
            raise TrainingError(f"the loss of step {step} is {loss}; lower --learning-rate")
        speed = sequences / (monotonic() - step_began)
        _say(rank, f"step {step} of {arguments.steps}: loss {loss:.4f}, {speed:.1f} sequences/s")
        last = step == arguments.steps
        if last or requests or step % arguments.checkpoint_every == 0:
            checkpoints.save(engine, step)
            _say(rank, f"checkpoint of step {step} written")
        if requests and not last:
            _say(rank, f"asked to end after step {step}; the next start goes on from there")
            return ASKED_TO_END
    if done == before:
        _say(rank, f"nothing to do: step {done} of {arguments.steps} is done")
        return 0
    speed = (done - before) * sequences / (monotonic() - began)
    _say(
        rank,
        f"done: step {done}, loss {loss:.4f}, {speed:.1f} sequences/s, "
        f"{speed / ranks:.2f} for each of {ranks} {device.kind}",
    )
    return 0


def _say(rank: int, line: str) -> None:
    if rank == 0:
        print(line, flush=True)

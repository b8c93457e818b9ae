"""The published pre-training runs of BERT, phase 1: sequences of 128 tokens.

Its program goes with the job. It takes what its command leaves out, such as the learning rate, from
the same runs.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from trainshed.app.sources import shipped
from trainshed.catalogue import AcceleratorFamily
from trainshed.errors import TrainshedError
from trainshed.jobs.sent_files import pack
from trainshed.jobs.submission import LAUNCHER
from trainshed.ready_jobs.model import PUBLISHED, JobNodes, Kind, Parameter, ReadyJob, Values, Work

# Stands for the folder of the cluster's file system, in a parameter.
_SHARED = "SHARED"
# Below the folder of examples.
_PROGRAM = "bert/train.py"
# Processes of a rehearsal on each node, and after how many of its 20 steps it writes a checkpoint.
_REHEARSAL_RANKS, _REHEARSAL_EVERY = 2, 5

_AWS_POST = "AWS Machine Learning Blog, Accelerate PyTorch with DeepSpeed on Gaudi-based DL1"
_PEER_DIRECT = "Intel Habana, EFA Peer Direct on Amazon EC2 DL1"
_HABANA = "Habana Model-References, PyTorch/nlp/bert"
_HABANA_DEEPSPEED = "Habana Model-References, DeepSpeedExamples/deepspeed-bert, scripts"
_NEURON = "aws-neuron-samples, dp_bert_hf_pretrain, run_dp_bert_large_hf_pretrain_bf16_s128.sh"

_MICRO_BATCH, _ACCUMULATION, _GLOBAL_BATCH = "micro_batch", "accumulation", "global_batch"
_LEARNING_RATE = "learning_rate"
# Of 1.5 billion, by the fewest nodes: it was published on 8 and on 16.
_LEARNING_RATES = {16: "0.003", 1: "0.0015"}


def _micro_batch(default: str, source: str) -> Parameter:
    return Parameter(
        name=_MICRO_BATCH,
        what="sequences at once, on one accelerator",
        default=default,
        source=source,
    )


def _accumulation(default: str, source: str) -> Parameter:
    return Parameter(
        name=_ACCUMULATION, what="micro-batches in a step", default=default, source=source
    )


def _global_batch(default: str, source: str) -> Parameter:
    return Parameter(
        name=_GLOBAL_BATCH,
        what="sequences in a step, on however many nodes",
        default=default,
        source=source,
    )


def _learning_rate(source: str) -> Parameter:
    return Parameter(
        name=_LEARNING_RATE,
        what="the highest; published are 0.0015 and, from 16 nodes on, 0.003",
        default=PUBLISHED,
        source=source,
        kind=Kind.RATE,
    )


def _run(name: str, steps: str, source: str) -> tuple[Parameter, ...]:
    return (
        Parameter(name="steps", what="of the training", default=steps, source=source),
        Parameter(
            name="data",
            what=f"folder of HDF5 shards, or synthetic; {_SHARED}/... is on the file system",
            default="synthetic",
            source="ours: no data set has to be there",
            kind=Kind.TEXT,
        ),
        Parameter(
            name="checkpoint",
            what="folder for checkpoints; a training goes on from what it finds there",
            default=f"{_SHARED}/checkpoints/{name}",
            source="ours",
            kind=Kind.TEXT,
        ),
        Parameter(
            name="checkpoint_every",
            what="steps from one checkpoint to the next",
            default="200",
            source="ours",
        ),
        Parameter(
            name="keep",
            what="checkpoints that are kept, the last ones",
            default="2",
            source="ours: those of a whole training would fill a file system",
        ),
        Parameter(
            name="seed", what="of weights, data and dropout", default="12439", source=_HABANA
        ),
    )


def _bert(
    ranks: int,
    zero: int,
    options: Mapping[str, int | str],
    environment: Mapping[str, str] | None = None,
) -> Work:
    """Return the training on each node, with so many processes there."""
    words = [str(word) for option in options.items() for word in option]
    return Work(
        command=(
            *(LAUNCHER, "torchrun", "--nproc-per-node", str(ranks), _PROGRAM),
            *("--zero", str(zero), "--sequence-length", "128", *words),
        ),
        environment=environment or {},
        files=pack(shipped("examples"), [Path(_PROGRAM).parent]),
    )


def _training(
    model: str, zero: int, environment: Mapping[str, str]
) -> Callable[[JobNodes, Values], Work]:
    def work(nodes: JobNodes, values: Values) -> Work:
        options = {
            "--model": model,
            "--micro-batch": values[_MICRO_BATCH],
            "--accumulation": values.get(_ACCUMULATION) or _shares(nodes, values),
            **_highest_rate(nodes, values),
            "--steps": values["steps"],
            "--data": _folder(nodes, values, "data"),
            "--checkpoint": _folder(nodes, values, "checkpoint"),
            "--checkpoint-every": values["checkpoint_every"],
            "--keep": values["keep"],
            "--seed": values["seed"],
        }
        return _bert(nodes.ranks_each, zero, options, environment)

    return work


def _highest_rate(nodes: JobNodes, values: Values) -> Mapping[str, str]:
    """Return the option of the learning rate; of a model with one published rate, none."""
    asked = values.get(_LEARNING_RATE)
    if asked is None:
        return {}
    published = next(rate for least, rate in _LEARNING_RATES.items() if nodes.count >= least)
    return {"--learning-rate": published if asked == PUBLISHED else str(asked)}


def _rehearsal(zero: int) -> Callable[[str], Work]:
    def work(folder: str) -> Work:
        options: Mapping[str, int | str] = {
            "--model": "tiny",
            "--data": "synthetic",
            "--checkpoint": folder,
            "--checkpoint-every": _REHEARSAL_EVERY,
        }
        return _bert(_REHEARSAL_RANKS, zero, options)

    return work


def _shares(nodes: JobNodes, values: Values) -> int:
    """Return how many micro-batches of a step each accelerator gets."""
    together, micro_batch = int(values[_GLOBAL_BATCH]), int(values[_MICRO_BATCH])
    at_once = micro_batch * nodes.ranks
    if together % at_once:
        raise TrainshedError(
            f"{_GLOBAL_BATCH} {together} is not a multiple of {at_once}, which is {_MICRO_BATCH} "
            f"{micro_batch} on {nodes.ranks} ranks of {nodes.count} nodes; set another "
            f"{_GLOBAL_BATCH} or {_MICRO_BATCH}, or take other nodes"
        )
    return together // at_once


def _folder(nodes: JobNodes, values: Values, name: str) -> str:
    path = str(values[name])
    if path != _SHARED and not path.startswith(f"{_SHARED}/"):
        return path
    if nodes.shared_folder is None:
        raise TrainshedError(
            f"{name}={path}: the cluster has no file system; add storage.lustre to its file, or "
            f"--set {name}=FOLDER, which all nodes share"
        )
    return nodes.shared_folder + path.removeprefix(_SHARED)


def _ready_job(
    name: str,
    what: str,
    family: AcceleratorFamily,
    *,
    model: str,
    zero: int,
    parameters: tuple[Parameter, ...],
    steps: tuple[str, str],
    environment: Mapping[str, str] | None = None,
    without: Mapping[str, str] | None = None,
) -> ReadyJob:
    return ReadyJob(
        name=name,
        what=f"pre-trains BERT with {what}",
        family=family,
        parameters=(*parameters, *_run(name, *steps)),
        work=_training(model, zero, environment or {}),
        rehearsal=_rehearsal(zero),
        without=without or {},
    )


BERT = (
    _ready_job(
        "bert-340m",
        "340 million parameters: ZeRO-1, BF16; published on 1, 2, 4 and 8 dl1.24xlarge",
        AcceleratorFamily.HABANA,
        model="340m",
        zero=1,
        parameters=(_micro_batch("64", _HABANA), _global_batch("65536", _HABANA)),
        steps=("7038", _HABANA),
    ),
    _ready_job(
        "bert-1.5b",
        "1.5 billion parameters: ZeRO-1, BF16; published on 1, 8 and 16 dl1.24xlarge",
        AcceleratorFamily.HABANA,
        model="1.5b",
        zero=1,
        parameters=(
            _micro_batch("16", _AWS_POST),
            _accumulation("24", _AWS_POST),
            _learning_rate(_AWS_POST),
        ),
        steps=("155000", _HABANA_DEEPSPEED),
    ),
    _ready_job(
        "bert-5b",
        "5 billion parameters: ZeRO-2, BF16; published on 16 dl1.24xlarge",
        AcceleratorFamily.HABANA,
        model="5b",
        zero=2,
        parameters=(_micro_batch("24", _PEER_DIRECT), _accumulation("4", _PEER_DIRECT)),
        steps=("75000", _HABANA_DEEPSPEED),
    ),
    _ready_job(
        "bert-340m",
        "340 million parameters: data parallel, BF16; published on 1 trn1.32xlarge",
        AcceleratorFamily.NEURON,
        model="340m",
        zero=0,
        parameters=(_micro_batch("16", _NEURON), _global_batch("16384", _NEURON)),
        steps=("28125", _NEURON),
        # Of the same script.
        environment={
            "NEURON_RT_EXEC_TIMEOUT": "600",
            "NEURON_RT_STOCHASTIC_ROUNDING_SEED": "0",
        },
        without=dict.fromkeys(("Inferentia", "Inferentia2"), "Inferentia does not train"),
    ),
)

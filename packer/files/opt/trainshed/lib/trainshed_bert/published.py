"""The sizes of BERT, and the settings of their published pre-training runs.

[S] Habana Model-References, PyTorch/nlp/DeepSpeedExamples/deepspeed-bert: README.md,
scripts/bert_1.5b_config.json, run_bert_1.5b_32x.sh, run_bert_5b_128x_lans.sh (1.5 and 5 billion);
PyTorch/nlp/bert/README.md (340 million); AWS Machine Learning Blog, "Accelerate PyTorch with
DeepSpeed ... Gaudi-based DL1" (micro-batch and accumulation of 1.5 billion); Intel Habana, "EFA
Peer Direct on Amazon EC2 DL1" (those of 5 billion).
"""

from __future__ import annotations

from dataclasses import dataclass

# 30522 word pieces, and as many unused ones as make it a multiple of 8, as all of them pad it.
VOCABULARY = 30528


@dataclass(frozen=True)
class Shape:
    """What decides how many parameters a model has.

    Attributes:
        layers: of the encoder.
        hidden: width; the feed-forward layers are four times as wide.
        heads: of attention.
        norm_first: whether layers normalise what comes in, not what goes out. Very deep models do
            not converge otherwise (Shoeybi et al. 2019, section 5.3).
        vocabulary: tokens.
        positions: the longest sequence.
    """

    layers: int
    hidden: int
    heads: int
    norm_first: bool = True
    vocabulary: int = VOCABULARY
    positions: int = 512


@dataclass(frozen=True)
class Published:
    """A model, and how it was trained in phase 1: sequences of 128 tokens.

    Attributes:
        shape: of the model.
        zero: stage of DeepSpeed's ZeRO.
        micro_batch: sequences of one accelerator at once.
        accumulation: micro-batches in a step.
        steps: of the whole phase.
        optimizer: `lans`, `lamb` or `adamw`.
        learning_rate: the highest.
        warmup: part of the steps in which the rate rises to it.
        constant: part of the steps in which it stays there.
        degree: of the polynomial by which it falls afterwards.
        recompute: whether activations are computed again in the backward pass, to save memory.
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
# [I] AWS's post does not say by which optimizer it trained 340 million; this is Habana's own run.
_340M = Published(
    shape=Shape(layers=24, hidden=1024, heads=16, norm_first=False),
    zero=1,
    micro_batch=64,
    accumulation=128,
    steps=7038,
    optimizer="lamb",
    learning_rate=0.006,
    warmup=0.2843,
    degree=0.5,
)
_1_5B = Published(
    shape=Shape(layers=48, hidden=1600, heads=25),
    zero=1,
    micro_batch=16,
    accumulation=24,
    steps=155_000,
    optimizer="lans",
    learning_rate=0.0015,
    warmup=0.05,
    constant=0.25,
)
_5B = Published(
    shape=Shape(layers=63, hidden=2560, heads=40),
    zero=2,
    micro_batch=24,
    accumulation=4,
    steps=75_000,
    optimizer="lans",
    learning_rate=0.0015,
    warmup=0.05,
    constant=0.25,
    recompute=True,
)
# The rehearsal: the code of 1.5 billion, in seconds on CPUs. Nobody published it.
_TINY = Published(
    shape=Shape(layers=2, hidden=64, heads=2, vocabulary=1024, positions=128),
    zero=1,
    micro_batch=8,
    accumulation=2,
    steps=20,
    optimizer="lans",
    learning_rate=0.05,
    warmup=0.05,
    constant=0.25,
)
# [S] aws-neuron-samples, torch-neuronx/training/dp_bert_hf_pretrain: one trn1.32xlarge. Each of
# its 32 NeuronCores takes 16 sequences 32 times: 16384 a step. 2000 steps of warm-up.
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

PUBLISHED = {"tiny": _TINY, "340m": _340M, "1.5b": _1_5B, "5b": _5B}

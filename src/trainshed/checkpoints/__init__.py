"""Checkpoints of a training: how large they are, and what each storage makes of them."""

from trainshed.checkpoints.advice import GOOD_LOSS, Advice, WrittenCheckpoint, advise
from trainshed.checkpoints.checkpoint import (
    BYTES_PER_PARAMETER,
    GB_PER_GIB,
    KEPT,
    LEAST_BYTES,
    MOST_BYTES,
    Checkpoint,
    checkpoint_of,
)
from trainshed.checkpoints.own import UnknownSpeed, clients_of, own_offers
from trainshed.checkpoints.storages import (
    MBPS_PER_MIBPS,
    STORAGES,
    Clients,
    Lustre,
    Offer,
    Storage,
    elastic_efs_mbps,
    reached_lustre,
)

__all__ = [
    "BYTES_PER_PARAMETER",
    "GB_PER_GIB",
    "GOOD_LOSS",
    "KEPT",
    "LEAST_BYTES",
    "MBPS_PER_MIBPS",
    "MOST_BYTES",
    "STORAGES",
    "Advice",
    "Checkpoint",
    "Clients",
    "Lustre",
    "Offer",
    "Storage",
    "UnknownSpeed",
    "WrittenCheckpoint",
    "advise",
    "checkpoint_of",
    "clients_of",
    "elastic_efs_mbps",
    "own_offers",
    "reached_lustre",
]

"""The storages that checkpoints may be written to: how fast each is, and what it is paid for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from trainshed.catalogue import openzfs
from trainshed.catalogue.efs import ELASTIC_CLIENT_MIBPS, elastic_mibps
from trainshed.catalogue.lustre import (
    CLIENT_GBPS,
    CLIENT_SERVER_GBPS,
    EFA_CLIENT_GBPS,
    SCRATCH_THROUGHPUT,
    SERVER_GIB,
    SSD_SIZES,
    THROUGHPUTS,
    Sizes,
    efa_sizes,
    sustained_throughput,
)
from trainshed.checkpoints.checkpoint import GB_PER_GIB, Checkpoint
from trainshed.prices import (
    EFS_STORED,
    EFS_WRITTEN,
    OPENZFS_STORED,
    OPENZFS_THROUGHPUT,
    lustre_item,
)
from trainshed.spec import DeploymentType

_MBPS_PER_GBPS = 125
MBPS_PER_MIBPS = 1.048576


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """The nodes that write a checkpoint, each its part at the same time.

    Attributes:
        nodes: how many.
        gbps: the network bandwidth of one.
        lustre_efa: they reach Lustre over EFA.
        region: where they are.
    """

    nodes: int
    gbps: float
    lustre_efa: bool
    region: str

    @property
    def mbps(self) -> float:
        """MB/s that their network carries, of all together."""
        return self.nodes * self.gbps * _MBPS_PER_GBPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One storage in one size.

    Attributes:
        storage: what it is.
        size: what of it can be chosen.
        mbps: MB/s that these clients write to it, all together.
        gib: its room; None where it has as much as is used.
        units: what is paid for in a month, by the name of its price.
        replicated: data outlives a server.
        remark: what to know before it is taken.
    """

    storage: str
    size: str
    mbps: float
    gib: int | None
    units: Mapping[str, float]
    replicated: bool = True
    remark: str = ""


class Storage(Protocol):
    """A kind of storage."""

    def smallest(self, checkpoint: Checkpoint, clients: Clients, lost: float) -> Offer | None:
        """Return the smallest with room that loses no more than a part of the time.

        Where no size does, it is the smallest that is as fast as any; None where none has room.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Lustre:
    """FSx for Lustre on SSD.

    Attributes:
        deployment: its type.
        throughput: MB/s per TiB of persistent-2; None for scratch-2.
    """

    deployment: DeploymentType
    throughput: int | None = None

    def sized(self, gib: int, clients: Clients) -> Offer:
        """Return a file system of a size."""
        over_efa = self._efa_sizes(clients) is not None
        mbps = reached_lustre(clients, sustained_throughput(gib, self._per_tib), over_efa=over_efa)
        if not over_efa:
            servers = gib // SERVER_GIB
            mbps = min(mbps, clients.nodes * servers * CLIENT_SERVER_GBPS * _MBPS_PER_GBPS)
        replicated = self.deployment is DeploymentType.PERSISTENT_2
        per_tib = f", {self.throughput} MB/s per TiB" if self.throughput else ""
        return Offer(
            storage=f"Lustre {self.deployment}{per_tib}",
            size=f"{gib} GiB",
            mbps=mbps,
            gib=gib,
            units={lustre_item(self.deployment, self.throughput): gib},
            replicated=replicated,
            remark="" if replicated else "loses data with a server: copy checkpoints elsewhere",
        )

    def smallest(self, checkpoint: Checkpoint, clients: Clients, lost: float) -> Offer:
        """Return the smallest with room that loses no more than a part of the time."""
        mbps = min(checkpoint.mbps_for(lost), self._most_mbps(clients))
        room = checkpoint.kept_gb / GB_PER_GIB
        fast = math.ceil(mbps) * 1024 / self._per_tib
        sizes = self._efa_sizes(clients)
        if sizes:
            return self.sized(sizes.at_least(max(room, fast)), clients)
        servers = math.ceil(mbps / (clients.nodes * CLIENT_SERVER_GBPS * _MBPS_PER_GBPS))
        return self.sized(SSD_SIZES.at_least(max(room, fast, servers * SERVER_GIB)), clients)

    @property
    def _per_tib(self) -> int:
        return self.throughput or SCRATCH_THROUGHPUT

    def _efa_sizes(self, clients: Clients) -> Sizes | None:
        return efa_sizes(self.throughput) if clients.lustre_efa else None

    def _most_mbps(self, clients: Clients) -> float:
        return reached_lustre(clients, math.inf, over_efa=self._efa_sizes(clients) is not None)


def reached_lustre(clients: Clients, mbps: float, *, over_efa: bool) -> float:
    """Return the MB/s that nodes write to Lustre, which takes so many."""
    limit = EFA_CLIENT_GBPS if over_efa else CLIENT_GBPS
    return min(mbps, clients.nodes * min(limit, clients.gbps) * _MBPS_PER_GBPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Efs:
    """EFS in all zones of a region, with Elastic throughput: it has no size."""

    def smallest(self, checkpoint: Checkpoint, clients: Clients, lost: float) -> Offer:
        """Return what it is, which loses what it loses."""
        mbps = elastic_efs_mbps(clients)
        return Offer(
            storage="EFS, Elastic throughput",
            size="as used",
            mbps=mbps,
            gib=None,
            units={
                EFS_STORED: checkpoint.kept_gb / GB_PER_GIB,
                EFS_WRITTEN: checkpoint.written_gb_per_month(mbps) / GB_PER_GIB,
            },
            remark="each GB that is written is paid for; AWS may raise the quota of its throughput",
        )


def elastic_efs_mbps(clients: Clients) -> float:
    """Return the MB/s that nodes write to EFS in all zones with Elastic throughput."""
    mibps = min(elastic_mibps(clients.region), clients.nodes * ELASTIC_CLIENT_MIBPS)
    return min(mibps * MBPS_PER_MIBPS, clients.mbps)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenZfs:
    """FSx for OpenZFS on SSD, SINGLE_AZ_HA_2: throughput and storage are chosen apart."""

    def sized(self, gib: int, throughput: int, clients: Clients) -> Offer:
        """Return a file system of a size and a throughput."""
        return Offer(
            storage="FSx for OpenZFS, single-az-ha-2",
            size=f"{gib} GiB, {throughput} MB/s",
            mbps=min(throughput, clients.mbps),
            gib=gib,
            units={OPENZFS_STORED: gib, OPENZFS_THROUGHPUT: throughput},
        )

    def smallest(self, checkpoint: Checkpoint, clients: Clients, lost: float) -> Offer | None:
        """Return the smallest with room that loses no more than a part of the time."""
        gib = max(openzfs.LEAST_GIB, math.ceil(checkpoint.kept_gb / GB_PER_GIB))
        if gib > openzfs.MOST_GIB:
            return None
        wanted = min(checkpoint.mbps_for(lost), clients.mbps)
        steps = openzfs.THROUGHPUTS
        chosen = next((mbps for mbps in steps if mbps >= wanted), steps[-1])
        return self.sized(gib, chosen, clients)


STORAGES: tuple[Storage, ...] = (
    Lustre(deployment=DeploymentType.SCRATCH_2),
    *(
        Lustre(deployment=DeploymentType.PERSISTENT_2, throughput=throughput)
        for throughput in THROUGHPUTS
    ),
    Efs(),
    OpenZfs(),
)

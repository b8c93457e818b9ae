"""A card for people: all that the catalogue knows of one instance type."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from trainshed.catalogue.lookup import (
    corrections,
    lookup,
    regions_offering,
    snapshot_date,
    zones_offering,
)
from trainshed.catalogue.model import Correction, InstanceType, LifecycleStatus, NetworkCard


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCard:
    """What `trainshed catalogue show` shows of an instance type.

    Attributes:
        instance: the type.
        zones: zone IDs that offer it, by region; the last known ones of a withdrawn type.
        corrections: where the data are not the EC2 API's own.
        snapshot: the day of the newest answer of the EC2 API in the catalogue.
    """

    instance: InstanceType
    zones: dict[str, tuple[str, ...]]
    corrections: tuple[Correction, ...]
    snapshot: date

    @property
    def facts(self) -> dict[str, str]:
        """The facts in words, by heading."""
        it = self.instance
        return {
            "accelerators": str(it.accelerator),
            "memory": f"{it.memory_mib / 1024:g} GiB",
            "huge pages": f"{it.huge_pages_mib / 1024:.4g} GiB" if it.huge_pages_mib else "none",
            "vCPUs": f"{it.vcpus} ({it.architecture})",
            "local storage": f"{it.local_storage_gb} GB" if it.local_storage_gb else "none",
            "network": f"{it.network_gbps:g} Gbps",
            "network cards": "; ".join(_cards(it.network_cards)),
            "EFA": self._efa,
            "Nitro": f"v{it.nitro_version}" if it.nitro_version else "no document says",
            "EFA-enabled Lustre": (
                f"can mount it, over {it.lustre_efa_interfaces} EFA interfaces"
                if it.lustre_efa_client
                else "cannot mount it"
            ),
            "sold as": ", ".join(it.usage_classes)
            + ("" if it.priced_on_demand else "; AWS publishes no on-demand price"),
            "placement": ", ".join(it.placement_strategies),
            "on-demand quota": f"{it.on_demand_quota.code} (service ec2, vCPUs)",
            "Spot quota": f"{it.spot_quota.code} (service ec2, vCPUs)",
            "lifecycle": self._lifecycle,
            "by": it.lifecycle.source or f"the EC2 API, {self.snapshot}",
        }

    @property
    def _efa(self) -> str:
        if not self.instance.efa_interfaces_max:
            return "none"
        rdma = "with RDMA" if self.instance.efa_rdma else "no RDMA documented"
        others = self.instance.other_verbs_devices
        beside = f"; {others} verbs devices beside it are not EFA" if others else ""
        return f"{self.instance.efa_interfaces_max} interfaces, {rdma}{beside}"

    @property
    def _lifecycle(self) -> str:
        life = self.instance.lifecycle
        if life.status is LifecycleStatus.OFFERED:
            return "offered"
        since = (
            f"; the EC2 API listed it last on {life.last_seen}, and not on {life.first_missing}"
            if self.instance.withdrawn
            else ""
        )
        return f"{life.status}{since}; use {life.replacement} instead"


def type_card(name: str) -> TypeCard:
    """Return the card of an instance type.

    Raises:
        UnknownName: the catalogue has no such type; the message names the nearest one.
    """
    return TypeCard(
        instance=lookup(name),
        zones={region: zones_offering(name, region) for region in regions_offering(name)},
        corrections=corrections(name),
        snapshot=snapshot_date(),
    )


def _cards(cards: tuple[NetworkCard, ...]) -> Iterator[str]:
    """Describe the network cards; cards of one kind are one entry."""

    def same_kind(card: NetworkCard) -> tuple[int, bool, bool]:
        return card.slots, card.supports_efa, card.supports_efa_only

    for (slots, efa, efa_only), group in groupby(cards, key=same_kind):
        indexes = [card.index for card in group]
        which = str(indexes[0]) if len(indexes) == 1 else f"{indexes[0]}-{indexes[-1]}"
        kinds = ["interface", *(["efa"] if efa else []), *(["efa-only"] if efa_only else [])]
        yield f"{which}: {slots} slots, {'/'.join(kinds)}"

"""The network-interface planner: which interface goes on which card, and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from trainshed.catalogue import InstanceType, NetworkCard


class InterfaceKind(StrEnum):
    """EC2's `InterfaceType` (EC2 user guide, "Elastic Fabric Adapter").

    `interface` is an ENA device with an IP address, `efa` is ENA and EFA with an IP address,
    `efa-only` is EFA without an address.
    """

    INTERFACE = "interface"
    EFA = "efa"
    EFA_ONLY = "efa-only"

    @property
    def has_efa(self) -> bool:
        """Carries EFA traffic and counts toward the type's EFA limit."""
        return self is not InterfaceKind.INTERFACE

    @property
    def takes_ip(self) -> bool:
        """Takes a private IP address of the subnet."""
        return self is not InterfaceKind.EFA_ONLY


class InterfaceProfile(StrEnum):
    """A layout of interfaces, named after its use.

    `ec2`: today's layout of the EC2 user guide, ENA and EFA apart.
    `combined`: the classic one, an `efa` interface with an address on every card.
    `batch-mnp`: leaves a slot of card 0 free for the awsvpc interface of an AWS Batch
    multi-node parallel job.
    `eks`: leaves the slots of card 0 to the VPC CNI's pod interfaces.
    `pcs`: kinds that AWS PCS accepts, which are not `efa-only`.
    """

    EC2 = "ec2"
    COMBINED = "combined"
    BATCH_MNP = "batch-mnp"
    EKS = "eks"
    PCS = "pcs"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInterface:
    """One network interface of a node.

    Attributes:
        card: network card index.
        device: device index on that card.
        kind: `interface`, `efa` or `efa-only`.
        reason: why it is there, for people.
    """

    card: int
    device: int
    kind: InterfaceKind
    reason: str

    @property
    def primary(self) -> bool:
        """The interface that EC2 gives the instance's own address."""
        return self.card == 0 and self.device == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """What distinguishes the profiles.

    Attributes:
        split_primary: card 0 gets `interface` and `efa-only` instead of one `efa`.
        other_kind: the kind on the cards after card 0.
        other_device: the device index there of an `efa` interface, where the card has that many
            slots. It keeps the default route on card 0: Linux prefers the lowest index.
        efa_only_device: the same of an `efa-only` interface, which has no route.
        primary_reason: why card 0 looks as it does.
        other_reason: why the other cards do.
    """

    split_primary: bool = False
    other_kind: InterfaceKind = InterfaceKind.EFA_ONLY
    other_device: int = 1
    efa_only_device: int = 1
    primary_reason: str
    other_reason: str


_LAYOUTS = {
    # EC2 user guide, "Maximize network bandwidth on Amazon EC2 instances with multiple network
    # cards" (2026).
    InterfaceProfile.EC2: _Layout(
        split_primary=True,
        other_device=0,
        efa_only_device=0,
        primary_reason="IP traffic, apart from EFA",
        other_reason="EFA only, without an address: IP traffic stays with the primary",
    ),
    InterfaceProfile.COMBINED: _Layout(
        other_kind=InterfaceKind.EFA,
        primary_reason="IP and EFA traffic in one interface",
        other_reason="EFA; device index 1, so that the default route stays on card 0",
    ),
    # Batch gives each node of a multi-node parallel job an awsvpc interface of its own. That it
    # is attached to card 0 is inferred; AWS's Batch samples all leave a slot there. No document
    # says which device index it gets: the lowest that is free on card 0, or the lowest that no
    # interface of the node has. By the second reading index 1 elsewhere would make it 2, which
    # cards of two slots (p5, p5e, trn2) do not have. With index 0 elsewhere it is 1 by both. That
    # is how the EC2 user guide (2026) places efa-only, on every type, and AWS's Batch templates for
    # P5 and P6 their interfaces. ParallelCluster and terraform-aws-eks use 1, with no such job.
    InterfaceProfile.BATCH_MNP: _Layout(
        efa_only_device=0,
        primary_reason="IP and EFA in one slot; the next slot is for the job's awsvpc interface",
        other_reason="EFA only, without an address; index 0 leaves 1 to the job's interface, "
        "however it is chosen",
    ),
    InterfaceProfile.EKS: _Layout(
        primary_reason="IP and EFA in one slot; the other slots are for the VPC CNI's interfaces",
        other_reason="EFA only, without an address: IP traffic stays with the primary",
    ),
    # AWS PCS user guide, "Create a launch template with EFA".
    InterfaceProfile.PCS: _Layout(
        other_kind=InterfaceKind.EFA,
        primary_reason="IP and EFA traffic in one interface",
        other_reason="EFA; PCS does not take efa-only",
    ),
}


def plan_interfaces(
    instance: InstanceType, profile: InterfaceProfile
) -> tuple[NetworkInterface, ...]:
    """Lay out the network interfaces of one node, in card and device order.

    Every limit is the card's own: which kinds it takes, how many slots it has. The first row is
    the primary interface and carries IP; no row is beyond the type's EFA limit.

    Args:
        instance: the type's facts.
        profile: which layout.
    """
    layout = _LAYOUTS[profile]
    rows: list[NetworkInterface] = []
    for card in instance.network_cards:
        efa_left = instance.efa_interfaces_max - sum(row.kind.has_efa for row in rows)
        usable = card.supports_efa and efa_left > 0
        rows += _primary_card(card, layout, usable) if card.index == 0 else ()
        rows += _other_card(card, layout) if card.index > 0 and usable else ()
    return tuple(rows)


def _primary_card(card: NetworkCard, layout: _Layout, usable: bool) -> Iterator[NetworkInterface]:
    def row(device: int, kind: InterfaceKind, reason: str) -> NetworkInterface:
        return NetworkInterface(card=0, device=device, kind=kind, reason=reason)

    if not usable:
        yield row(0, InterfaceKind.INTERFACE, "IP traffic; this card has no EFA")
    elif layout.split_primary and card.supports_efa_only and card.slots > 1:
        yield row(0, InterfaceKind.INTERFACE, layout.primary_reason)
        yield row(1, InterfaceKind.EFA_ONLY, layout.other_reason)
    else:
        yield row(0, InterfaceKind.EFA, layout.primary_reason)


def _other_card(card: NetworkCard, layout: _Layout) -> Iterator[NetworkInterface]:
    kind = layout.other_kind if card.supports_efa_only else InterfaceKind.EFA
    wanted = layout.efa_only_device if kind is InterfaceKind.EFA_ONLY else layout.other_device
    device = min(wanted, card.slots - 1)
    yield NetworkInterface(card=card.index, device=device, kind=kind, reason=layout.other_reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """The EFA bandwidth that a layout uses.

    Attributes:
        used_gbps: what the layout's EFA interfaces reach, in Gbps.
        available_gbps: what the instance type has, in Gbps.
        left_out: why the rest is unused; empty when nothing is.
    """

    used_gbps: float
    available_gbps: float
    left_out: str

    @property
    def percent(self) -> float:
        """Used bandwidth in percent of what there is."""
        return 100 * self.used_gbps / self.available_gbps


def efa_bandwidth(instance: InstanceType, rows: tuple[NetworkInterface, ...]) -> Bandwidth | None:
    """Compare a layout's EFA bandwidth with the type's; EFA cards share it evenly.

    Returns:
        The bandwidth; None for a type without EFA.
    """
    efa_cards = {card.index for card in instance.efa_cards}
    if not (efa_cards and instance.efa_gbps):
        return None
    unused = sorted(efa_cards - {row.card for row in rows if row.kind.has_efa})
    missing = f"no EFA interface on cards {', '.join(map(str, unused))}"
    limit = f"{instance.name} takes at most {instance.efa_interfaces_max} EFA interfaces"
    share = instance.efa_gbps / len(efa_cards)
    return Bandwidth(
        used_gbps=instance.efa_gbps - share * len(unused),
        available_gbps=instance.efa_gbps,
        left_out=f"{missing}: {limit}" if unused else "",
    )

"""What EC2 refuses about the network interfaces of a launch.

Documented, without the instance type: the interface kinds (`interface`, `efa`, `efa-only`); a
(card, device) pair is unique; `efa-only` cannot be primary; the primary interface is card 0 device
0; public addresses are not assigned with several interfaces ("The associatePublicIPAddress
parameter cannot be specified when launching with multiple network interfaces."). And with the
type's DescribeInstanceTypes record: cards, interfaces per card, kinds per card (`InterfaceTypes`)
and EFA per instance. Inferred: the other messages' exact words.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES

from embedded_aws.actions import Refusal
from embedded_aws.ec2.instance_types import Record
from embedded_aws.ec2.refusals import invalid_combination, invalid_value

# One entry of NetworkInterfaces, as the API takes it.
Interface = Mapping[str, Any]

_KINDS = ("interface", "efa", "efa-only")
_EFA_KINDS = ("efa", "efa-only")


def kind_of(interface: Interface) -> str:
    """Return the interface's kind; EC2's default is a plain interface."""
    kind: str = interface.get("InterfaceType", "interface")
    return kind


def place_of(interface: Interface) -> tuple[int, int]:
    """Return (network card index, device index); the card defaults to 0."""
    return interface.get("NetworkCardIndex", 0), interface.get("DeviceIndex", 0)


def check_interfaces(interfaces: Sequence[Interface], record: Record | None) -> None:
    """Refuse interfaces that cannot be launched.

    Args:
        interfaces: the NetworkInterfaces of a launch or of a launch template.
        record: of the instance type, or None when it is not known yet.

    Raises:
        Refusal: as EC2 does.
    """
    for interface in interfaces:
        if kind_of(interface) not in _KINDS:
            raise invalid_value(
                f"Invalid value '{kind_of(interface)}' for InterfaceType. "
                f"Allowed values are {', '.join(_KINDS)}."
            )
    places = [place_of(interface) for interface in interfaces]
    if twice := sorted({place for place in places if places.count(place) > 1}):
        card, device = twice[0]
        primary = " Exactly one interface can be primary." if (card, device) == (0, 0) else ""
        raise invalid_combination(
            "Each network interface requires a unique device index: network card index "
            f"{card}, device index {device} is given more than once.{primary}"
        )
    if any(kind_of(i) == "efa-only" and place_of(i) == (0, 0) for i in interfaces):
        raise invalid_combination(
            "An efa-only network interface cannot be the primary network interface "
            "(network card index 0, device index 0)."
        )
    if len(interfaces) > 1 and any(i.get("AssociatePublicIpAddress") for i in interfaces):
        raise invalid_combination(
            "The associatePublicIPAddress parameter cannot be specified when launching with "
            "multiple network interfaces."
        )
    if record is None:
        _check_possible(places)
    else:
        _check_type(interfaces, record)


def check_primary(interfaces: Sequence[Interface]) -> None:
    """Refuse a launch whose interfaces lack the primary one.

    Raises:
        Refusal: no interface has network card index 0 and device index 0.
    """
    if interfaces and (0, 0) not in map(place_of, interfaces):
        raise invalid_value(
            "When specifying network interfaces, you must include a device at index 0 on "
            "network card index 0."
        )


def _check_possible(places: Iterable[tuple[int, int]]) -> None:
    """Refuse card and device indexes that no instance type has."""
    cards = max(len(_cards(record)) for record in INSTANCE_TYPES.values())
    slots = max(max(_cards(record).values()) for record in INSTANCE_TYPES.values())
    for card, device in places:
        if not 0 <= card < cards:
            raise invalid_value(
                f"Value ({card}) for parameter networkCardIndex is invalid. No instance type "
                f"has more than {cards} network cards."
            )
        if not 0 <= device < slots:
            raise invalid_value(
                f"Value ({device}) for parameter deviceIndex is invalid. No network card takes "
                f"more than {slots} network interfaces."
            )


def _cards(record: Record) -> dict[int, int]:
    """Return the interfaces that each network card takes, by card index."""
    return {
        card["NetworkCardIndex"]: card["MaximumNetworkInterfaces"]
        for card in record["NetworkInfo"]["NetworkCards"]
    }


def _check_type(interfaces: Sequence[Interface], record: Record) -> None:
    name = record["InstanceType"]
    network = record["NetworkInfo"]
    cards = _cards(record)
    for interface in interfaces:
        card, device = place_of(interface)
        if card not in cards:
            raise invalid_combination(
                f"Network card index {card} is not valid: instance type '{name}' has "
                f"{len(cards)} network card(s), with indexes 0 to {max(cards)}."
            )
        if not 0 <= device < cards[card]:
            raise Refusal(
                "AttachmentLimitExceeded",
                f"Device index {device} on network card index {card} exceeds the limit of "
                f"instance type '{name}': the card takes {cards[card]} network interfaces.",
            )
        if kind_of(interface) in _EFA_KINDS:
            _check_efa(interface, record)
    wanted = sum(kind_of(interface) in _EFA_KINDS for interface in interfaces)
    if wanted > (most := network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)):
        raise Refusal(
            "AttachmentLimitExceeded",
            f"{wanted} EFA interfaces are specified, but instance type '{name}' supports "
            f"at most {most}.",
        )


def _check_efa(interface: Interface, record: Record) -> None:
    name, network = record["InstanceType"], record["NetworkInfo"]
    if not network.get("EfaSupported"):
        raise invalid_combination(
            f"Elastic Fabric Adapter (EFA) interfaces are not supported on instance type '{name}'."
        )
    card_index, _ = place_of(interface)
    card = next(card for card in network["NetworkCards"] if card["NetworkCardIndex"] == card_index)
    # Records from before mid-2026 do not list it; then the type's EfaSupported counts.
    if kind_of(interface) not in card.get("InterfaceTypes", _EFA_KINDS):
        raise invalid_combination(
            f"Interface type '{kind_of(interface)}' is not supported on network card index "
            f"{card_index} of instance type '{name}'; it takes "
            f"{', '.join(card['InterfaceTypes'])}."
        )

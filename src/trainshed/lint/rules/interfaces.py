"""Whether the instance type takes the listed interfaces."""

from collections.abc import Iterator

from trainshed.catalogue import InstanceType
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.interfaces import InterfaceKind
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, Interface, Known, NodeGroup
from trainshed.lint.parts import efa_interfaces, groups_with_interfaces, listed_interfaces, types_of
from trainshed.lint.read import read

_CARDS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html"
_EFA = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html"
_ENI = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-eni.html"
_SPECIFICATION = (
    "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/"
    "API_LaunchTemplateInstanceNetworkInterfaceSpecificationRequest.html"
)


def _template(instance_type: str, *rows: str) -> dict[FileKind, str]:
    """Return an example: a launch template with some interfaces."""
    lines = "".join(f"          - {{{row}}}\n" for row in rows)
    return resources_example(f"""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: {instance_type}
        NetworkInterfaces:
{lines}""")


def _slot(row: Interface) -> tuple[int, int] | None:
    """Return card and device index; None where one is not given."""
    card, device = read(row.card), read(row.device)
    return (card.value, device.value) if card and device else None


def _path(row: Interface, given: object) -> tuple[str | int, ...]:
    return given.path if isinstance(given, Known) and given.path != row.path else row.path


@rule(
    "TS-EFA-005",
    title="An interface has a place that the instance type does not have",
    severity=Severity.ERROR,
    why="""
Each network card of an instance type takes a number of interfaces, with the device indexes from 0
on. EC2 refuses to launch a node with an interface on a card that does not exist, with a device
index that the card does not have, or with two interfaces in one place. P5 and Trn2 have two places
on each card: a device index that rises with the card soon leaves them.
""",
    sources=(_CARDS, _ENI, "https://github.com/eksctl-io/eksctl/issues/7520"),
    over=in_files(groups_with_interfaces),
    example=_template(
        "p5.48xlarge",
        "NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa",
        "NetworkCardIndex: 1, DeviceIndex: 2, InterfaceType: efa",
    ),
)
def no_such_place(group: NodeGroup) -> Iterator[Violation]:
    """Each interface must have a place of its own, which the type has."""
    seen: dict[tuple[int, int], Interface] = {}
    rows = listed_interfaces(group)
    for row in rows:
        slot = _slot(row)
        if slot and slot in seen:
            yield Violation(
                path=row.path,
                message=f"two interfaces of {group.name} have card {slot[0]} and device index "
                f"{slot[1]}",
                remedy="give each interface a place of its own",
            )
        if slot:
            seen[slot] = row
    for instance in types_of(group) if rows else ():
        for (card, device), row in seen.items():
            yield from _outside(instance, card, device, row, group)


def _outside(
    instance: InstanceType, card: int, device: int, row: Interface, group: NodeGroup
) -> Iterator[Violation]:
    cards = len(instance.network_cards)
    if not 0 <= card < cards:
        yield Violation(
            path=_path(row, row.card),
            message=f"{instance.name} has no network card {card}: it has {_range(cards)}",
            remedy=f"use a card that is there, or a type with more than {cards}",
        )
    elif not 0 <= device < (slots := instance.network_cards[card].slots):
        yield Violation(
            path=_path(row, row.device),
            message=f"device index {device} is not on card {card} of {instance.name}, which has "
            f"{slots} place{'s' if slots > 1 else ''}: {_range(slots)}",
            remedy="use device index 0 on card 0, and 1 or 0 on every other card",
        )


def _range(count: int) -> str:
    return "0 only" if count == 1 else f"0 to {count - 1}"


@rule(
    "TS-EFA-006",
    title="An EFA interface is where the instance type takes none",
    severity=Severity.ERROR,
    why="""
Not every instance type has EFA, and not every network card of a type that has it: card 0 of
P6-B300 takes plain interfaces only. Of a card that has EFA, one interface may use it. EC2 refuses
to launch a node with any other.
""",
    sources=(_CARDS, _EFA, "https://github.com/eksctl-io/eksctl/issues/8685"),
    over=in_files(groups_with_interfaces),
    example=_template(
        "p6-b300.48xlarge", "NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa"
    ),
)
def no_efa_there(group: NodeGroup) -> Iterator[Violation]:
    """EFA interfaces belong on cards that have EFA, one on each."""
    rows = efa_interfaces(group)
    for instance in types_of(group) if rows else ():
        if not instance.efa_interfaces_max:
            yield Violation(
                path=rows[0].path,
                message=f"{instance.name} has no EFA",
                remedy="use InterfaceType interface, or a type that has EFA",
            )
            continue
        with_efa = {card.index for card in instance.efa_cards}
        cards = {each.index for each in instance.network_cards}
        used: set[int] = set()
        for row in rows:
            card = read(row.card)
            if card is None or card.value not in cards:
                continue
            if card.value not in with_efa:
                yield Violation(
                    path=row.path,
                    message=f"card {card.value} of {instance.name} has no EFA",
                    remedy="use InterfaceType interface there, and EFA on cards "
                    f"{min(with_efa)} to {max(with_efa)}",
                )
            elif card.value in used:
                yield Violation(
                    path=row.path,
                    message=f"card {card.value} of {instance.name} has a second EFA interface",
                    remedy="give each card one EFA interface",
                )
            used.add(card.value)


@rule(
    "TS-EFA-007",
    title="The nodes have fewer EFA interfaces than the instance type takes",
    why="""
Each EFA interface carries a share of the node's bandwidth. What is missing is paid for and not
used: collectives between nodes are slower by as much, and nothing says so.
""",
    sources=(_CARDS,),
    over=in_files(groups_with_interfaces),
    example=_template("p4d.24xlarge", "NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa"),
)
def missing_interfaces(group: NodeGroup) -> Iterator[Violation]:
    """Nodes that use EFA should use all of it."""
    rows = efa_interfaces(group)
    for instance in types_of(group) if rows else ():
        if len(rows) >= instance.efa_interfaces_max:
            continue
        used = {card.value for row in rows if (card := read(row.card))}
        unused = sorted({card.index for card in instance.efa_cards} - used)
        listed = read(group.interfaces)
        yield Violation(
            path=listed.path if listed else group.path,
            message=f"{group.name} has {len(rows)} of the {instance.efa_interfaces_max} EFA "
            f"interfaces of {instance.name}: none on card{'s' if len(unused) > 1 else ''} "
            f"{_ranges(unused)}",
            remedy="add an EFA interface on each of these cards",
        )


def _ranges(numbers: list[int]) -> str:
    """Return for instance `1 to 3, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]} to {p[-1]}" for p in parts)


@rule(
    "TS-EFA-008",
    title="The nodes have no primary interface, or one without an address",
    severity=Severity.ERROR,
    why="""
The primary interface of a node has device index 0 on network card 0. EC2 refuses a launch without
it, and one in which it is `efa-only`: such an interface has no IP address, and the node would have
none.
""",
    sources=(_SPECIFICATION, _EFA),
    over=in_files(groups_with_interfaces),
    example=_template(
        "p4d.24xlarge", "NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa-only"
    ),
)
def no_primary(group: NodeGroup) -> Iterator[Violation]:
    """A node needs a primary interface with an address."""
    rows = listed_interfaces(group)
    primary = [row for row in rows if _slot(row) == (0, 0)]
    if rows and not primary and all(_slot(row) for row in rows):
        yield Violation(
            path=rows[0].path,
            message=f"no interface of {group.name} has card 0 and device index 0",
            remedy="give the first interface NetworkCardIndex 0 and DeviceIndex 0",
        )
    for row in primary:
        kind = read(row.kind)
        if kind and kind.value == InterfaceKind.EFA_ONLY:
            yield Violation(
                path=_path(row, row.kind),
                message="the primary interface is efa-only, which has no IP address",
                remedy="use efa, or interface with a second, efa-only interface on card 0",
            )


@rule(
    "TS-EFA-009",
    title="A public address is asked for with several interfaces",
    severity=Severity.ERROR,
    why="""
EC2 gives a public address at launch only to nodes with one interface. A launch with several of
which one has `AssociatePublicIpAddress: true` is refused: "The associatePublicIPAddress parameter
cannot be specified when launching with multiple network interfaces".
""",
    sources=(
        _ENI,
        "https://github.com/aws/karpenter-provider-aws/pull/5666",
    ),
    over=in_files(groups_with_interfaces),
    example=_template(
        "p4d.24xlarge",
        "NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa, AssociatePublicIpAddress: true",
        "NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: efa",
        "NetworkCardIndex: 2, DeviceIndex: 1, InterfaceType: efa",
        "NetworkCardIndex: 3, DeviceIndex: 1, InterfaceType: efa",
    ),
)
def public_address(group: NodeGroup) -> Iterator[Violation]:
    """Nodes with several interfaces get no public address."""
    rows = listed_interfaces(group)
    for row in rows if len(rows) > 1 else ():
        public = read(row.public_address)
        if public and public.value:
            yield Violation(
                path=public.path,
                message=f"{group.name} has {len(rows)} interfaces, and asks for a public address",
                remedy="leave AssociatePublicIpAddress out, put the nodes into private subnets "
                "with a NAT gateway, or attach an Elastic IP address after the launch",
            )


@rule(
    "TS-EFA-010",
    title="The device index rises with the network card",
    why="""
The device index counts the interfaces of one card. AWS documents index 0 on card 0 and 0 or 1 on
the others. An index that is the number of the card works only on types with as many places on each
card, and fails when the type is changed for one with fewer, for instance P5.
""",
    basis=Basis.OBSERVED,
    sources=(_CARDS, "https://github.com/eksctl-io/eksctl/issues/7520"),
    over=in_files(groups_with_interfaces),
    example=_template(
        "p4d.24xlarge",
        *(f"NetworkCardIndex: {n}, DeviceIndex: {n}, InterfaceType: efa" for n in range(4)),
    ),
)
def rising_index(group: NodeGroup) -> Iterator[Violation]:
    """The device index is not the number of the card."""
    slots = [(row, _slot(row)) for row in listed_interfaces(group)]
    high = [(row, slot) for row, slot in slots if slot and slot[0] == slot[1] > 1]
    for row, slot in high[:1]:
        yield Violation(
            path=_path(row, row.device),
            message=f"the device index of {group.name} is the number of the card, up to "
            f"{max(slot[0] for _, slot in high)}",
            remedy="use device index 0 on card 0, and 1 on every other card",
        )


@rule(
    "TS-EFA-011",
    title="Several interfaces with an address have device index 0",
    severity=Severity.INFO,
    why="""
A node routes what leaves it through the interface with device index 0. When interfaces of kind
`efa`, which have addresses, have index 0 on several cards and are in one subnet, an answer may
leave through another interface than the one that the question came to. `efa-only` has no address,
and so no such problem.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/setup-trn1-multi-node-execution.html",
    ),
    over=in_files(groups_with_interfaces),
    example=_template(
        "p4d.24xlarge",
        "NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa",
        "NetworkCardIndex: 1, DeviceIndex: 0, InterfaceType: efa",
    ),
)
def addresses_at_index_0(group: NodeGroup) -> Iterator[Violation]:
    """One interface with an address should have index 0."""
    found: dict[int, Interface] = {}
    for row in listed_interfaces(group):
        slot, kind = _slot(row), read(row.kind)
        if slot and slot[1] == 0 and kind and kind.value != InterfaceKind.EFA_ONLY:
            found.setdefault(slot[0], row)
    if len(found) > 1:
        row = [*found.values()][1]
        yield Violation(
            path=_path(row, row.device),
            message=f"interfaces of {group.name} with an address have device index 0 on "
            f"{len(found)} cards",
            remedy="use efa-only on the cards after card 0, or device index 1 there",
        )


@rule(
    "TS-EFA-012",
    title="The EFA interfaces of a node have no security group in common",
    severity=Severity.ERROR,
    why="""
EFA traffic passes only between members of one security group that allows all traffic to and from
itself. An EFA interface outside that group reaches no other node.
""",
    sources=("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html",),
    over=in_files(groups_with_interfaces),
    example=_template(
        "p4d.24xlarge",
        "NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa, Groups: [sg-11111111]",
        "NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: efa, Groups: [sg-22222222]",
        "NetworkCardIndex: 2, DeviceIndex: 1, InterfaceType: efa, Groups: [sg-11111111]",
        "NetworkCardIndex: 3, DeviceIndex: 1, InterfaceType: efa, Groups: [sg-11111111]",
    ),
)
def different_groups(group: NodeGroup) -> Iterator[Violation]:
    """All EFA interfaces belong into one security group."""
    rows = efa_interfaces(group)
    first: set[str] = set()
    for row in rows:
        groups = read(row.security_groups)
        names = set(groups.value) if groups else set()
        if row is rows[0]:
            first = names
        elif not first & names and (first or names):
            yield Violation(
                path=groups.path if groups else row.path,
                message=f"this EFA interface of {group.name} is in "
                f"{', '.join(sorted(names)) or 'no named group'}, the first one in "
                f"{', '.join(sorted(first)) or 'no named group'}",
                remedy="give every EFA interface the same security group",
            )

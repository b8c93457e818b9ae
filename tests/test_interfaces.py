"""The interface planner: exact layouts of known types, and what holds for every type."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainshed.catalogue import InstanceType, NetworkCard, all_types, lookup
from trainshed.interfaces import (
    InterfaceKind,
    InterfaceProfile,
    NetworkInterface,
    efa_bandwidth,
    plan_interfaces,
)

Row = tuple[int, int, str]


def rows(instance: InstanceType, profile: InterfaceProfile) -> list[Row]:
    return [(row.card, row.device, row.kind.value) for row in plan_interfaces(instance, profile)]


def on_cards(first: int, last: int, device: int, kind: str) -> list[Row]:
    return [(card, device, kind) for card in range(first, last + 1)]


SPLIT = [(0, 0, "interface"), (0, 1, "efa-only")]
ONE_EFA = [(0, 0, "efa")]

# Written from the EC2 user guide ("Maximize network bandwidth on Amazon EC2 instances with
# multiple network cards", "Elastic Fabric Adapter") and from the launch templates of Neuron's and
# AWS Batch's samples, not from what the planner says.
LAYOUTS = [
    ("p6-b300.48xlarge", "ec2", [(0, 0, "interface"), *on_cards(1, 16, 0, "efa-only")]),
    ("p6-b300.48xlarge", "batch-mnp", [(0, 0, "interface"), *on_cards(1, 16, 0, "efa-only")]),
    ("p6-b200.48xlarge", "ec2", [*SPLIT, *on_cards(1, 7, 0, "efa-only")]),
    ("p6-b200.48xlarge", "batch-mnp", [*ONE_EFA, *on_cards(1, 7, 0, "efa-only")]),
    ("p5.48xlarge", "ec2", [*SPLIT, *on_cards(1, 31, 0, "efa-only")]),
    ("p5.48xlarge", "batch-mnp", [*ONE_EFA, *on_cards(1, 31, 0, "efa-only")]),
    ("p5.48xlarge", "combined", [*ONE_EFA, *on_cards(1, 31, 1, "efa")]),
    ("p5.4xlarge", "ec2", SPLIT),
    ("p5.4xlarge", "batch-mnp", ONE_EFA),
    ("trn1.32xlarge", "ec2", [*SPLIT, *on_cards(1, 7, 0, "efa-only")]),
    ("trn1.32xlarge", "batch-mnp", [*ONE_EFA, *on_cards(1, 7, 0, "efa-only")]),
    ("trn1.32xlarge", "combined", [*ONE_EFA, *on_cards(1, 7, 1, "efa")]),
    ("trn1.32xlarge", "pcs", [*ONE_EFA, *on_cards(1, 7, 1, "efa")]),
    ("trn1.32xlarge", "eks", [*ONE_EFA, *on_cards(1, 7, 1, "efa-only")]),
    ("trn1n.32xlarge", "ec2", [*SPLIT, *on_cards(1, 15, 0, "efa-only")]),
    ("trn1n.32xlarge", "batch-mnp", [*ONE_EFA, *on_cards(1, 15, 0, "efa-only")]),
    ("trn2.48xlarge", "ec2", [*SPLIT, *on_cards(1, 15, 0, "efa-only")]),
    ("trn2.48xlarge", "batch-mnp", [*ONE_EFA, *on_cards(1, 15, 0, "efa-only")]),
    ("dl1.24xlarge", "ec2", [*SPLIT, *on_cards(1, 3, 0, "efa-only")]),
    ("dl1.24xlarge", "batch-mnp", [*ONE_EFA, *on_cards(1, 3, 0, "efa-only")]),
    ("dl1.24xlarge", "combined", [*ONE_EFA, *on_cards(1, 3, 1, "efa")]),
    ("p4d.24xlarge", "ec2", [*SPLIT, *on_cards(1, 3, 0, "efa-only")]),
    ("p4d.24xlarge", "batch-mnp", [*ONE_EFA, *on_cards(1, 3, 0, "efa-only")]),
    ("p3dn.24xlarge", "ec2", SPLIT),
    ("p3dn.24xlarge", "batch-mnp", ONE_EFA),
    ("g6e.48xlarge", "ec2", [*SPLIT, *on_cards(1, 3, 0, "efa-only")]),
    ("g6e.48xlarge", "batch-mnp", [*ONE_EFA, *on_cards(1, 3, 0, "efa-only")]),
    ("trn1.2xlarge", "batch-mnp", [(0, 0, "interface")]),
]


@pytest.mark.parametrize(
    ("name", "profile", "expected"),
    [pytest.param(*layout, id=f"{layout[0]}-{layout[1]}") for layout in LAYOUTS],
)
def test_known_types_have_the_documented_layout(
    name: str, profile: str, expected: list[Row]
) -> None:
    assert rows(lookup(name), InterfaceProfile(profile)) == expected


@pytest.mark.parametrize("profile", InterfaceProfile)
def test_a_card_with_one_slot_takes_one_interface(profile: InterfaceProfile) -> None:
    cards = tuple(replace(card, slots=1) for card in lookup("p4d.24xlarge").network_cards)
    instance = replace(lookup("p4d.24xlarge"), network_cards=cards)

    planned = plan_interfaces(instance, profile)

    assert [(row.card, row.device) for row in planned] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert planned[0].kind is InterfaceKind.EFA


catalogue_types = st.sampled_from(all_types()).map(lookup)
profiles = st.sampled_from(InterfaceProfile)


@st.composite
def imagined_types(draw: st.DrawFn) -> InstanceType:
    """Types that AWS does not sell: EFA on any cards, few slots, a low EFA limit, or none."""
    cards = tuple(
        NetworkCard(
            index=index,
            slots=draw(st.integers(1, 4)),
            supports_efa=efa,
            supports_efa_only=efa and draw(st.booleans()),
        )
        for index, efa in enumerate(draw(st.lists(st.booleans(), min_size=1, max_size=20)))
    )
    efa_cards = sum(card.supports_efa for card in cards)
    return replace(
        lookup("p5.48xlarge"),
        name="imagined.48xlarge",
        network_cards=cards,
        network_gbps=draw(st.sampled_from([25.0, 100.0, 3200.0])),
        efa_interfaces_max=draw(st.integers(min(efa_cards, 1), efa_cards)),
    )


any_type = catalogue_types | imagined_types()


def card_of(instance: InstanceType, row: NetworkInterface) -> NetworkCard:
    return next(card for card in instance.network_cards if card.index == row.card)


@given(any_type, profiles)
def test_every_slot_is_used_once_and_exists(
    instance: InstanceType, profile: InterfaceProfile
) -> None:
    planned = plan_interfaces(instance, profile)

    assert len({(row.card, row.device) for row in planned}) == len(planned)
    assert all(0 <= row.device < card_of(instance, row).slots for row in planned)


@given(any_type)
def test_the_jobs_own_interface_has_a_slot_of_card_0_however_its_index_is_chosen(
    instance: InstanceType,
) -> None:
    planned = plan_interfaces(instance, InterfaceProfile.BATCH_MNP)
    card = instance.network_cards[0]
    if card.slots == 1 or not all(each.supports_efa_only for each in instance.efa_cards):
        return  # no layout leaves a slot; or a card takes `efa` only, whose route needs index 1

    by_card = {row.device for row in planned if row.card == 0}
    by_node = {row.device for row in planned}

    for taken in (by_card, by_node):
        assert min(set(range(card.slots + 1)) - taken) < card.slots


@given(any_type, profiles)
def test_every_kind_is_one_that_its_card_takes(
    instance: InstanceType, profile: InterfaceProfile
) -> None:
    for row in plan_interfaces(instance, profile):
        card = card_of(instance, row)
        assert card.supports_efa or row.kind is not InterfaceKind.EFA
        assert card.supports_efa_only or row.kind is not InterfaceKind.EFA_ONLY


@given(any_type, profiles)
def test_no_more_efa_than_the_type_allows_and_one_on_a_card(
    instance: InstanceType, profile: InterfaceProfile
) -> None:
    efa_cards = [row.card for row in plan_interfaces(instance, profile) if row.kind.has_efa]

    assert len(efa_cards) <= instance.efa_interfaces_max
    assert len(set(efa_cards)) == len(efa_cards)


@given(any_type, profiles)
def test_the_first_row_and_no_other_is_primary_and_carries_ip(
    instance: InstanceType, profile: InterfaceProfile
) -> None:
    first, *others = plan_interfaces(instance, profile)

    assert first.primary
    assert first.kind.takes_ip
    assert not any(row.primary for row in others)


@given(any_type, profiles)
def test_rows_stand_in_card_and_device_order_with_a_reason_each(
    instance: InstanceType, profile: InterfaceProfile
) -> None:
    planned = plan_interfaces(instance, profile)

    assert list(planned) == sorted(planned, key=lambda row: (row.card, row.device))
    assert all(row.reason for row in planned)


@given(any_type)
def test_batch_mnp_leaves_a_slot_of_card_0_to_the_job(instance: InstanceType) -> None:
    planned = plan_interfaces(instance, InterfaceProfile.BATCH_MNP)

    used = sum(row.card == 0 for row in planned)
    assert used == 1


@given(any_type)
def test_pcs_gets_no_efa_only(instance: InstanceType) -> None:
    planned = plan_interfaces(instance, InterfaceProfile.PCS)

    assert InterfaceKind.EFA_ONLY not in {row.kind for row in planned}


@given(catalogue_types, profiles)
def test_every_profile_uses_all_the_efa_of_every_type_in_the_catalogue(
    instance: InstanceType, profile: InterfaceProfile
) -> None:
    bandwidth = efa_bandwidth(instance, plan_interfaces(instance, profile))

    if not instance.efa_interfaces_max:
        assert bandwidth is None
        return
    assert bandwidth
    assert bandwidth.percent == 100
    assert bandwidth.used_gbps == bandwidth.available_gbps
    assert not bandwidth.left_out


@given(any_type, profiles)
def test_efa_bandwidth_is_whole_or_says_what_is_left_out_and_why(
    instance: InstanceType, profile: InterfaceProfile
) -> None:
    planned = plan_interfaces(instance, profile)
    efa_rows = sum(row.kind.has_efa for row in planned)

    bandwidth = efa_bandwidth(instance, planned)

    if not (instance.efa_cards and instance.efa_interfaces_max):
        assert bandwidth is None
        return
    assert bandwidth
    if efa_rows == len(instance.efa_cards):
        assert (bandwidth.percent, bandwidth.left_out) == (100, "")
    else:
        assert bandwidth.percent == pytest.approx(100 * efa_rows / len(instance.efa_cards))
        assert f"at most {instance.efa_interfaces_max} EFA" in bandwidth.left_out


def test_left_out_names_the_cards() -> None:
    instance = replace(lookup("p4d.24xlarge"), efa_interfaces_max=2)

    bandwidth = efa_bandwidth(instance, plan_interfaces(instance, InterfaceProfile.EC2))

    assert bandwidth
    assert bandwidth.used_gbps == 200
    assert bandwidth.left_out == (
        "no EFA interface on cards 2, 3: p4d.24xlarge takes at most 2 EFA interfaces"
    )


def test_a_type_without_efa_has_no_efa_bandwidth() -> None:
    instance = lookup("trn1.2xlarge")

    assert efa_bandwidth(instance, plan_interfaces(instance, InterfaceProfile.EC2)) is None

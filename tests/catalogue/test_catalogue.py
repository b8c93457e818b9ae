"""The catalogue: facts checked against AWS's documents, lookup, offerings, lifecycles."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from trainshed import catalogue
from trainshed.catalogue import AcceleratorFamily, LifecycleStatus
from trainshed.catalogue.capacity_blocks import ends_early
from trainshed.catalogue.card import type_card
from trainshed.errors import UnknownName
from trainshed.prices import Purchase, instance_item, load_prices

# Written by hand from AWS's documents and dated API dumps: vCPUs, memory in GiB, accelerators and
# their MiB, cards, interfaces a card (None: not the same on all), EFA limit, Gbps, usage classes.
FACTS = """
p3.2xlarge        8    61  1  16384  1  4     0    10 on-demand,spot
p3.16xlarge      64   488  8  16384  1  8     0    25 on-demand,spot
p3dn.24xlarge    96   768  8  32768  1 15     1   100 on-demand,spot
p4d.24xlarge     96  1152  8  40960  4 15     4   400 capacity-block,on-demand,spot
p4de.24xlarge    96  1152  8  81920  4 15     4   400 capacity-block,on-demand,spot
p5.4xlarge       16   256  1  81920  1  4     1   100 capacity-block,on-demand,spot
p5.48xlarge     192  2048  8  81920 32  2    32  3200 capacity-block,on-demand,spot
p5e.48xlarge    192  2048  8 144384 32  2    32  3200 capacity-block,on-demand,spot
p5en.48xlarge   192  2048  8 144384 16  4    16  3200 capacity-block,on-demand,spot
p6-b200.48xlarge 192 2048  8 183359  8  4     8  3200 capacity-block,on-demand,spot
p6-b300.48xlarge 192 4096  8 275040 17  4    16  6400 capacity-block,on-demand,spot
g5.48xlarge     192   768  8  22888  1  7     1   100 on-demand,spot
g6.48xlarge     192   768  8  22888  1 15     1   100 on-demand,spot
g6e.48xlarge    192  1536  8  45776  4 10     4   400 on-demand,spot
trn1.2xlarge      8    32  1  32768  1  4     0  12.5 on-demand,spot
trn1.32xlarge   128   512 16  32768  8  5     8   800 capacity-block,on-demand,spot
trn1n.32xlarge  128   512 16  32768 16  5    16  1600 on-demand,spot
trn2.3xlarge     12   128  1  98304  1  2     1   200 capacity-block,on-demand,spot
trn2.48xlarge   192  2048 16  98304 16  2    16  3200 capacity-block,on-demand,spot
trn2u.48xlarge  192  2048 16  98304 16  2    16  3200 capacity-block,on-demand
dl1.24xlarge     96   768  8  32768  4 15     4   400 on-demand,spot
dl2q.24xlarge    96   768  8  16000  1 15     1   100 on-demand,spot
inf1.24xlarge    96   192 16   8192  1 11     1   100 on-demand,spot
inf2.48xlarge   192   768 12  32768  1 15     0   100 on-demand,spot
"""


@pytest.mark.parametrize("line", FACTS.split("\n")[1:-1], ids=lambda line: line.split()[0])
def test_facts_are_those_of_aws(line: str) -> None:
    name, vcpus, memory, count, device_mib, cards, slots, efa, gbps, usage = line.split()

    found = catalogue.lookup(name)

    assert found.vcpus == int(vcpus)
    assert found.memory_mib == int(memory) * 1024
    assert (found.accelerator.count, found.accelerator.memory_mib) == (int(count), int(device_mib))
    assert len(found.network_cards) == int(cards)
    assert {card.slots for card in found.network_cards} == {int(slots)}
    assert found.efa_interfaces_max == int(efa)
    assert found.network_gbps == float(gbps)
    assert sorted(found.usage_classes) == usage.split(",")


@pytest.mark.parametrize(
    ("name", "family", "maker_name", "cores"),
    [
        ("dl1.24xlarge", AcceleratorFamily.HABANA, "Gaudi HL-205", 0),
        ("dl2q.24xlarge", AcceleratorFamily.QUALCOMM, "Qualcomm AI100", 0),
        ("p4d.24xlarge", AcceleratorFamily.NVIDIA, "A100", 0),
        ("trn1.32xlarge", AcceleratorFamily.NEURON, "Trainium", 2),
        ("trn2.48xlarge", AcceleratorFamily.NEURON, "Trainium2", 8),
        ("trn2u.48xlarge", AcceleratorFamily.NEURON, "Trainium2", 8),
    ],
)
def test_the_maker_of_the_accelerator_is_not_guessed_from_the_api_field(
    name: str, family: AcceleratorFamily, maker_name: str, cores: int
) -> None:
    accelerator = catalogue.lookup(name).accelerator

    assert (accelerator.family, accelerator.name, accelerator.cores) == (family, maker_name, cores)


def test_only_card_0_of_p6_b300_is_without_efa() -> None:
    cards = catalogue.lookup("p6-b300.48xlarge").network_cards

    assert [card.index for card in cards if not card.supports_efa] == [0]


@pytest.mark.parametrize(
    ("name", "quota"),
    [
        ("p4de.24xlarge", "L-7212CCBC"),
        ("p5en.48xlarge", "L-C4BD4855"),
        ("p6-b200.48xlarge", "L-C4BD4855"),
        ("gr6.4xlarge", "L-3819A6DF"),
        ("trn1n.32xlarge", "L-6B0D517C"),
        ("dl1.24xlarge", "L-85EED4F7"),
        ("inf2.48xlarge", "L-B5D1601B"),
    ],
)
def test_each_family_has_its_spot_quota(name: str, quota: str) -> None:
    assert catalogue.lookup(name).spot_quota.code == quota


@pytest.mark.parametrize(
    ("name", "quota"),
    [
        ("p5.48xlarge", "L-417A185B"),
        ("g6e.48xlarge", "L-DB2E81BA"),
        ("gr6.4xlarge", "L-DB2E81BA"),
        ("trn2.48xlarge", "L-2C3B7624"),
        ("dl1.24xlarge", "L-6E869C2A"),
        ("inf2.48xlarge", "L-1945791B"),
    ],
)
def test_each_family_has_its_on_demand_quota(name: str, quota: str) -> None:
    assert catalogue.lookup(name).on_demand_quota.code == quota


@pytest.mark.parametrize(
    ("name", "nitro", "rdma", "lustre_client"),
    [
        ("p4d.24xlarge", 3, True, False),
        ("p5.48xlarge", 4, True, True),
        ("trn1.32xlarge", 4, True, True),
        ("trn2.48xlarge", 5, True, False),
        ("g5.48xlarge", 3, False, False),
        ("p3dn.24xlarge", 3, False, False),
        ("trn1.2xlarge", 4, True, False),
    ],
)
def test_nitro_generation_decides_efa_lustre_except_for_trn2(
    name: str, nitro: int, rdma: bool, lustre_client: bool
) -> None:
    found = catalogue.lookup(name)

    assert (found.nitro_version, found.efa_rdma, found.lustre_efa_client) == (
        nitro,
        rdma,
        lustre_client,
    )


@pytest.mark.parametrize(
    ("name", "regions"),
    [
        ("trn1n.32xlarge", "us-east-1 us-east-2 us-west-2"),
        ("trn2.48xlarge", "ap-south-2 us-east-2"),
        ("dl2q.24xlarge", "eu-central-1 us-west-2"),
        ("p3dn.24xlarge", "ap-northeast-1 eu-west-1 us-east-1 us-west-2"),
        (
            "p6-b300.48xlarge",
            "ap-northeast-2 ap-south-2 ap-southeast-3 sa-east-1 us-east-1 us-west-2",
        ),
        ("dl1.24xlarge", "us-east-1 us-west-2"),
    ],
)
def test_types_are_offered_where_the_api_offers_them(name: str, regions: str) -> None:
    assert " ".join(catalogue.regions_offering(name)) == regions


@pytest.mark.parametrize(
    ("name", "region", "zones"),
    [
        ("trn1.32xlarge", "us-east-1", "use1-az4 use1-az5 use1-az6"),
        ("trn1.32xlarge", "us-west-2", "usw2-az1 usw2-az4"),
        ("trn1n.32xlarge", "us-west-2", "usw2-az4"),
        ("p4d.24xlarge", "us-east-1", "use1-az1 use1-az2 use1-az4 use1-az6"),
        ("dl1.24xlarge", "us-west-2", "usw2-az1"),
        ("dl1.24xlarge", "us-east-1", "use1-az2"),
        ("trn2.48xlarge", "us-east-1", ""),
    ],
)
def test_zones_are_ids_and_those_of_the_api(name: str, region: str, zones: str) -> None:
    assert " ".join(catalogue.zones_offering(name, region)) == zones


def test_a_withdrawn_type_says_when_and_what_to_use_instead() -> None:
    lifecycle = catalogue.lookup("dl1.24xlarge").lifecycle

    assert lifecycle.status is LifecycleStatus.WITHDRAWN
    assert lifecycle.last_seen == date(2026, 7, 1)
    assert lifecycle.first_missing == date(2026, 7, 11)
    assert lifecycle.replacement == "trn1.32xlarge"
    assert lifecycle.source


@pytest.mark.parametrize("name", ["dl1.24xlarge", "p3.2xlarge", "p3.8xlarge", "p3.16xlarge"])
def test_every_replacement_is_a_type_that_is_offered(name: str) -> None:
    found = catalogue.lookup(name)

    assert found.withdrawn
    assert found.lifecycle.replacement is not None
    assert not catalogue.lookup(found.lifecycle.replacement).withdrawn


def test_p3dn_is_previous_generation_and_not_withdrawn() -> None:
    lifecycle = catalogue.lookup("p3dn.24xlarge").lifecycle

    assert lifecycle.status is LifecycleStatus.PREVIOUS_GENERATION
    assert lifecycle.first_missing is None


def test_every_type_in_the_catalogue_is_whole() -> None:
    for name in catalogue.all_types():
        found = catalogue.lookup(name)

        assert found.name == name
        assert found.accelerator.count >= 1
        assert found.network_gbps > 0
        assert [card.index for card in found.network_cards] == list(range(len(found.network_cards)))
        assert found.efa_interfaces_max == len(found.efa_cards)
        assert found.on_demand_quota.code.startswith("L-")
        assert catalogue.regions_offering(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("trn1.32xl", "trn1.32xlarge"),
        ("Trn1.32xlarge", "trn1.32xlarge"),
        # By its letters, p5.4xlarge is nearer, an eighth of it.
        ("p5.24xlarge", "p5.48xlarge"),
        ("p3.24xlarge", "p3.16xlarge"),
        ("trn1.16xlarge", "trn1.32xlarge"),
        # Of a family that is not there, one that AWS still sells.
        ("p2.16xlarge", "p4d.24xlarge"),
        ("p4.24xlarge", "p4d.24xlarge"),
        ("trn3.48xlarge", "trn2.48xlarge"),
    ],
)
def test_an_unknown_type_is_reported_with_one_of_its_maker_and_size(name: str, meant: str) -> None:
    with pytest.raises(UnknownName, match=rf"{name!r} is not known; did you mean {meant}\?"):
        catalogue.lookup(name)


def test_an_unknown_region_is_reported_with_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match=r"'us-west2' is not known; did you mean us-west-2"):
        catalogue.zone_ids("us-west2")


@pytest.mark.parametrize(
    ("instance_type", "ranks"),
    [
        ("dl1.24xlarge", 8),
        ("p4d.24xlarge", 8),
        ("trn1.32xlarge", 32),
        # Two of a Trainium2's NeuronCores work as one.
        ("trn2.48xlarge", 64),
        ("inf2.48xlarge", 24),
    ],
)
def test_an_instance_has_a_rank_for_each_device_or_logical_core(
    instance_type: str, ranks: int
) -> None:
    assert catalogue.lookup(instance_type).accelerator.ranks == ranks


@pytest.mark.parametrize(
    ("usage", "code"),
    [
        ("on-demand", "L-2C3B7624"),
        ("reservation", "L-2C3B7624"),
        ("capacity-block", None),
        ("spot", "L-6B0D517C"),
    ],
)
def test_a_capacity_block_counts_against_no_quota(usage: str, code: str | None) -> None:
    quota = catalogue.quota_for(catalogue.lookup("trn1.32xlarge"), usage)

    assert (quota.code if quota else None) == code


def test_a_larger_quota_is_asked_for_by_a_command() -> None:
    quota = catalogue.lookup("dl1.24xlarge").on_demand_quota

    assert catalogue.increase_command(quota, 1536, "us-west-2") == (
        "aws service-quotas request-service-quota-increase --service-code ec2 "
        "--quota-code L-6E869C2A --desired-value 1536 --region us-west-2"
    )


WITHOUT_PRICE = [
    name for name in catalogue.all_types() if not catalogue.lookup(name).priced_on_demand
]


@pytest.mark.parametrize("name", WITHOUT_PRICE)
def test_a_type_without_an_on_demand_price_is_sold_in_blocks(name: str, tmp_path: Path) -> None:
    item = instance_item(Purchase.ON_DEMAND, name)
    prices = [
        load_prices(region, tmp_path / "none.json").price(item)
        for region in catalogue.regions_offering(name)
    ]

    assert prices
    assert not any(prices)
    assert "capacity-block" in catalogue.lookup(name).usage_classes
    sold_as = type_card(name).facts["sold as"]
    assert sold_as.endswith("; AWS publishes no on-demand price")


def test_types_without_an_on_demand_price_are_known() -> None:
    assert WITHOUT_PRICE == ["p5e.48xlarge", "trn2.3xlarge", "trn2.48xlarge", "trn2u.48xlarge"]


@pytest.mark.parametrize(
    ("name", "minutes"), [("p5.48xlarge", 30), ("trn2.48xlarge", 30), ("trn2u.48xlarge", 60)]
)
def test_ec2_ends_instances_before_their_block_and_those_of_ultraservers_sooner(
    name: str, minutes: int
) -> None:
    assert ends_early(catalogue.lookup(name).name) == timedelta(minutes=minutes)

"""Which types of the catalogue may be launched in place of each other, and why others may not."""

from itertools import combinations, permutations

from trainshed.catalogue import all_types, lookup
from trainshed.catalogue.interchangeable import differences
from trainshed.interfaces import plan_interfaces
from trainshed.nodes.devices import node_devices
from trainshed.orchestrators import Orchestrator, traits

TYPES = [lookup(name) for name in all_types()]
ALIKE = [(one, other) for one, other in permutations(TYPES, 2) if not [*differences(one, other)]]


def test_what_is_interchangeable_has_the_same_interfaces_devices_and_quotas() -> None:
    for (one, other), orchestrator in ((pair, each) for pair in ALIKE for each in Orchestrator):
        profile = traits(orchestrator).profile
        rows = plan_interfaces(one, profile)
        assert rows == plan_interfaces(other, profile)
        assert node_devices(one, rows) == node_devices(other, rows)
        assert one.on_demand_quota == other.on_demand_quota
        assert one.placement_strategies == other.placement_strategies
        assert one.huge_pages_mib == other.huge_pages_mib


def test_of_types_with_efa_these_are_interchangeable() -> None:
    pairs = [
        f"{one.name} {other.name}"
        for one, other in combinations(TYPES, 2)
        if (one, other) in ALIKE and one.efa_interfaces_max
    ]

    assert pairs == [
        "g5.8xlarge gr6.8xlarge",
        "g6.16xlarge g6e.16xlarge",
        "g6.8xlarge g6e.8xlarge",
        "g6.8xlarge g7e.8xlarge",
        "g6e.24xlarge g7e.24xlarge",
        "g6e.48xlarge g7e.48xlarge",
        "g6e.8xlarge g7e.8xlarge",
        "p4d.24xlarge p4de.24xlarge",
        "p5.48xlarge p5e.48xlarge",
        "trn2.48xlarge trn2u.48xlarge",
    ]


def test_a_difference_is_named_with_both_values() -> None:
    found = [*differences(lookup("p5.48xlarge"), lookup("p5en.48xlarge"))]

    assert found == [
        "network cards: 16, not 32",
        "slots of the cards: 16 x 4, not 32 x 2",
        "EFA interfaces: 16, not 32",
    ]

"""The devices that a node must have to take jobs."""

import pytest

from trainshed.catalogue import all_types, lookup
from trainshed.interfaces import InterfaceProfile, plan_interfaces
from trainshed.nodes.devices import node_devices


@pytest.mark.parametrize(
    ("name", "devices"),
    [
        ("dl1.24xlarge", {"efa": 4, "habana": 8}),
        ("trn1.32xlarge", {"efa": 8, "neuron": 16}),
        ("trn1.2xlarge", {"neuron": 1}),
        ("p4d.24xlarge", {"efa": 4, "nvidia": 8}),
        # Card 0 has no EFA.
        ("p6-b300.48xlarge", {"efa": 16, "nvidia": 8}),
        # The EC2 API tells nothing of its accelerators.
        ("trn2u.48xlarge", {"efa": 16, "neuron": 16}),
    ],
)
def test_devices_are_those_of_the_type(name: str, devices: dict[str, int]) -> None:
    instance = lookup(name)

    interfaces = plan_interfaces(instance, InterfaceProfile.BATCH_MNP)

    assert node_devices(instance, interfaces) == devices


def test_efa_devices_are_those_that_a_node_is_launched_with() -> None:
    instance = lookup("trn1.32xlarge")
    interfaces = plan_interfaces(instance, InterfaceProfile.BATCH_MNP)

    assert node_devices(instance, interfaces[:5]) == {"efa": 5, "neuron": 16}


@pytest.mark.parametrize("name", all_types())
def test_every_type_has_accelerators_to_look_for(name: str) -> None:
    assert all(count > 0 for count in node_devices(lookup(name), ()).values())

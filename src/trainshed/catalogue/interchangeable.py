"""Instance types of which one may be launched in place of another."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

from trainshed.catalogue.model import InstanceType

# What a cluster is planned from, and a launch template has in common for all of its nodes.
_ALIKE: Final[tuple[tuple[str, Callable[[InstanceType], object]], ...]] = (
    ("maker of the accelerators", lambda each: each.accelerator.family),
    ("accelerators", lambda each: each.accelerator.count),
    ("NeuronCores of each accelerator", lambda each: each.accelerator.cores),
    ("architecture", lambda each: each.architecture),
    ("vCPUs", lambda each: each.vcpus),
    ("network cards", lambda each: len(each.network_cards)),
    ("slots of the cards", lambda each: [card.slots for card in each.network_cards]),
    ("EFA interfaces", lambda each: each.efa_interfaces_max),
    ("EFA with RDMA", lambda each: each.efa_rdma),
    ("EFA interfaces for Lustre", lambda each: each.lustre_efa_interfaces),
    ("instance store", lambda each: bool(each.local_storage_gb)),
    ("quota", lambda each: each.on_demand_quota),
    ("quota on Spot", lambda each: each.spot_quota),
)


def differences(one: InstanceType, other: InstanceType) -> Iterator[str]:
    """Yield what keeps a type from being launched in place of another, with both values."""
    for what, of in _ALIKE:
        if of(one) != of(other):
            yield f"{what}: {_shown(of(other))}, not {_shown(of(one))}"


def _shown(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case list():
            return " + ".join(f"{len([*same])} x {slots}" for slots, same in groupby(value))
    return str(getattr(value, "name", value))

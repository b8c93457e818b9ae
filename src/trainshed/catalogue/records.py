"""From the EC2 API's own record of an instance type to ours."""

import re
from collections.abc import Mapping
from typing import Any

from trainshed.catalogue.model import (
    Accelerator,
    AcceleratorFamily,
    InstanceType,
    Lifecycle,
    NetworkCard,
    Quota,
)

# A field of DescribeInstanceTypes: JSON enters here and leaves as an InstanceType.
Record = Mapping[str, Any]

_FAMILIES = re.compile(r"(dl1|dl2q|trn\d\w*|inf\d|p[3-6][^.]*|g[5-7][^.]*|gr6f?)\.")
_GIGABIT = re.compile(r"(?:Up to )?(?:(\d+)x )?([\d.]+) Gigabit")
_ACCELERATOR_KEYS = ("GpuInfo", "NeuronInfo", "InferenceAcceleratorInfo")


def belongs(record: Record) -> bool:
    """Whether the catalogue keeps this type: a training family, or an accelerator with EFA."""
    accelerated = not record.keys().isdisjoint(_ACCELERATOR_KEYS)
    has_efa = bool(record["NetworkInfo"].get("EfaSupported"))
    return bool(_FAMILIES.match(record["InstanceType"])) or (accelerated and has_efa)


def parse(
    record: Record,
    overlay: Record,
    lifecycle: Lifecycle,
    on_demand_quota: Quota,
    spot_quota: Quota,
    huge_pages: Mapping[str, int],
) -> InstanceType:
    """Turn an API record into an InstanceType.

    Args:
        record: as DescribeInstanceTypes returns it.
        overlay: this type's entry of the overlay; wins over the record.
        lifecycle: whether the type is still sold.
        on_demand_quota: that covers the type on demand.
        spot_quota: that covers it on Spot.
        huge_pages: how many of 2 MiB are reserved for `efa`, and by accelerator family.
    """
    network = record["NetworkInfo"]
    nitro_version = overlay.get("nitro_version", 0)
    efa_interfaces_max = network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
    accelerator = _accelerator(record, overlay.get("accelerator", {}))
    pages = (huge_pages["efa"] if efa_interfaces_max else 0, huge_pages.get(accelerator.family, 0))
    lustre_efa_client = overlay.get(
        "lustre_efa_client", nitro_version >= 4 and efa_interfaces_max > 0
    )
    return InstanceType(
        name=record["InstanceType"],
        architecture=record["ProcessorInfo"]["SupportedArchitectures"][0],
        vcpus=record["VCpuInfo"]["DefaultVCpus"],
        memory_mib=record["MemoryInfo"]["SizeInMiB"],
        # Not their sum: who comes second finds the pages of the first, and adds what is missing.
        huge_pages_mib=2 * max(pages),
        accelerator=accelerator,
        network_cards=tuple(
            _network_card(card, bool(network.get("EfaSupported")))
            for card in sorted(network["NetworkCards"], key=lambda card: card["NetworkCardIndex"])
        ),
        ipv4_addresses_per_interface=network["Ipv4AddressesPerInterface"],
        network_gbps=_gbps(network["NetworkPerformance"]),
        efa_interfaces_max=efa_interfaces_max,
        local_storage_gb=record.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        ebs_mbps=record["EbsInfo"]["EbsOptimizedInfo"]["BaselineBandwidthInMbps"],
        xen=record.get("Hypervisor") == "xen",
        usage_classes=tuple(record["SupportedUsageClasses"]),
        priced_on_demand=overlay.get("priced_on_demand", True),
        placement_strategies=tuple(record["PlacementGroupInfo"]["SupportedStrategies"]),
        nitro_version=nitro_version,
        other_verbs_devices=overlay.get("other_verbs_devices", 0),
        efa_rdma=overlay.get("efa_rdma", False),
        lustre_efa_client=lustre_efa_client,
        lustre_efa_interfaces=(
            # FSx for Lustre user guide, "Configuring EFA clients": types that it does not name use
            # two interfaces when they have several network cards, and else one.
            overlay.get("lustre_efa_interfaces", min(2, len(network["NetworkCards"])))
            if lustre_efa_client
            else 0
        ),
        on_demand_quota=on_demand_quota,
        spot_quota=spot_quota,
        lifecycle=lifecycle,
    )


def _network_card(card: Record, type_supports_efa: bool) -> NetworkCard:
    # Records from before mid-2026 have no InterfaceTypes. Then the type's own EfaSupported is all
    # there is; every type that does have the field pairs `efa` with `efa-only`.
    kinds = card.get("InterfaceTypes", ["efa", "efa-only"] if type_supports_efa else [])
    return NetworkCard(
        index=card["NetworkCardIndex"],
        slots=card["MaximumNetworkInterfaces"],
        supports_efa="efa" in kinds,
        supports_efa_only="efa-only" in kinds,
    )


def _gbps(performance: str) -> float:
    found = _GIGABIT.fullmatch(performance)
    if not found:
        raise ValueError(f"NetworkPerformance {performance!r} has no known form")
    return int(found[1] or 1) * float(found[2])


def _accelerator(record: Record, overlay: Record) -> Accelerator:
    fields = {**reported_accelerator(record), **overlay}
    return Accelerator(**fields | {"family": AcceleratorFamily(fields["family"])})


def reported_accelerator(record: Record) -> dict[str, Any]:
    """Return what an API record itself says about the accelerators, by the names of Accelerator."""
    device: Record = {}
    fields: dict[str, Any] = {}
    if "GpuInfo" in record:
        device = record["GpuInfo"]["Gpus"][0]
        fields = {"family": device["Manufacturer"].lower()}
    elif "NeuronInfo" in record:
        device = record["NeuronInfo"]["NeuronDevices"][0]
        fields = {"family": AcceleratorFamily.NEURON, "cores": device["CoreInfo"]["Count"]}
    elif "InferenceAcceleratorInfo" in record:
        device = record["InferenceAcceleratorInfo"]["Accelerators"][0]
        fields = {"family": AcceleratorFamily.QUALCOMM}
    if device:
        fields |= {
            "name": device["Name"],
            # Fractional GPUs (g6f) are reported as 0 GPUs with a partition size.
            "count": device.get("Count", 0) or device.get("LogicalGpuCount", 1),
            "memory_mib": device["MemoryInfo"]["SizeInMiB"],
        }
    return fields

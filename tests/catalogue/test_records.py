"""Reading API records, the odd ones too."""

from typing import Any

import pytest

from trainshed.catalogue import AcceleratorFamily, InstanceType, Lifecycle, LifecycleStatus, Quota
from trainshed.catalogue.records import belongs, parse
from trainshed.catalogue.sync import trim

RECORD: dict[str, Any] = {
    "InstanceType": "p9.48xlarge",
    "SupportedUsageClasses": ["on-demand"],
    "ProcessorInfo": {"SupportedArchitectures": ["x86_64"], "Manufacturer": "Intel"},
    "VCpuInfo": {"DefaultVCpus": 192},
    "MemoryInfo": {"SizeInMiB": 2097152},
    "EbsInfo": {"EbsOptimizedInfo": {"BaselineBandwidthInMbps": 80000}},
    "NetworkInfo": {
        "NetworkPerformance": "100 Gigabit",
        "Ipv4AddressesPerInterface": 50,
        "NetworkCards": [
            {"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 4, "InterfaceTypes": ["interface"]}
        ],
    },
    "GpuInfo": {
        "Gpus": [
            {
                "Count": 8,
                "Manufacturer": "NVIDIA",
                "Name": "X100",
                "MemoryInfo": {"SizeInMiB": 81920},
            }
        ]
    },
    "PlacementGroupInfo": {"SupportedStrategies": ["cluster"]},
}


def read(overlay: dict[str, Any] | None = None, **changes: Any) -> InstanceType:
    return parse(
        RECORD | changes,
        overlay or {},
        Lifecycle(status=LifecycleStatus.OFFERED),
        Quota(service="ec2", code="L-417A185B", name="Running On-Demand P instances"),
        Quota(service="ec2", code="L-C4BD4855", name="All P5 Spot Instance Requests"),
        {"efa": 5000},
    )


def network(performance: str = "100 Gigabit", **fields: Any) -> dict[str, Any]:
    return {**RECORD["NetworkInfo"], "NetworkPerformance": performance, **fields}


def test_a_record_without_optional_parts_reads_as_none_of_them() -> None:
    found = read()

    assert found.efa_interfaces_max == 0
    assert found.efa_gbps == 0
    assert found.ebs_mbps == 80000
    assert found.local_storage_gb == 0
    assert found.nitro_version == 0
    assert not found.lustre_efa_client
    assert found.huge_pages_mib == 0


@pytest.mark.parametrize(
    ("performance", "gbps"),
    [
        ("100 Gigabit", 100),
        ("12.5 Gigabit", 12.5),
        ("Up to 12.5 Gigabit", 12.5),
        ("4x 100 Gigabit", 400),
        ("32x 100 Gigabit", 3200),
    ],
)
def test_network_performance_is_read_in_all_of_its_forms(performance: str, gbps: float) -> None:
    assert read(NetworkInfo=network(performance)).network_gbps == gbps


def test_network_performance_in_a_new_form_is_refused() -> None:
    with pytest.raises(ValueError, match=r"NetworkPerformance 'Very fast' has no known form"):
        read(NetworkInfo=network("Very fast"))


def test_cards_are_sorted_by_index() -> None:
    cards = [
        {"NetworkCardIndex": 1, "MaximumNetworkInterfaces": 2, "InterfaceTypes": ["efa"]},
        {"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 3, "InterfaceTypes": ["interface"]},
    ]

    found = read(NetworkInfo=network(NetworkCards=cards, EfaSupported=True)).network_cards

    assert [(card.index, card.slots) for card in found] == [(0, 3), (1, 2)]
    assert [(card.supports_efa, card.supports_efa_only) for card in found] == [
        (False, False),
        (True, False),
    ]


@pytest.mark.parametrize("supported", [True, False])
def test_cards_of_older_records_take_efa_when_the_type_does(supported: bool) -> None:
    cards = [{"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 4}]

    (card,) = read(NetworkInfo=network(NetworkCards=cards, EfaSupported=supported)).network_cards

    assert (card.supports_efa, card.supports_efa_only) == (supported, supported)


def test_habana_under_gpu_info_is_not_nvidia() -> None:
    gpus = [
        {
            "Count": 8,
            "Manufacturer": "Habana",
            "Name": "Gaudi HL-205",
            "MemoryInfo": {"SizeInMiB": 1},
        }
    ]

    assert read(GpuInfo={"Gpus": gpus}).accelerator.family is AcceleratorFamily.HABANA


def test_a_fraction_of_a_gpu_counts_as_one() -> None:
    gpus = [
        {"Count": 0, "Manufacturer": "NVIDIA", "Name": "L4", "MemoryInfo": {"SizeInMiB": 2861}}
        | {"GpuPartitionSize": 0.125, "LogicalGpuCount": 1}
    ]

    assert read(GpuInfo={"Gpus": gpus}).accelerator.count == 1


def test_the_overlay_wins_over_the_record() -> None:
    overlay = {"accelerator": {"memory_mib": 5}, "nitro_version": 6, "efa_rdma": True}

    found = read(overlay)

    assert (found.accelerator.memory_mib, found.accelerator.name) == (5, "X100")
    assert (found.nitro_version, found.efa_rdma) == (6, True)


def test_an_unknown_gpu_maker_is_refused() -> None:
    gpus = [{"Count": 1, "Manufacturer": "AMD", "Name": "V520", "MemoryInfo": {"SizeInMiB": 1}}]

    with pytest.raises(ValueError, match="'amd' is not a valid AcceleratorFamily"):
        read(GpuInfo={"Gpus": gpus})


@pytest.mark.parametrize(
    ("name", "fields", "kept"),
    [
        ("trn2u.48xlarge", {}, True),
        ("dl1.24xlarge", {}, True),
        ("p6-b300.48xlarge", {}, True),
        ("g6e.xlarge", {}, True),
        ("c7gn.16xlarge", {"NetworkInfo": {"EfaSupported": True}}, False),
        ("x9.metal", {"GpuInfo": {}, "NetworkInfo": {"EfaSupported": True}}, True),
        ("x9.metal", {"GpuInfo": {}}, False),
        ("g4ad.xlarge", {"GpuInfo": {}}, False),
        ("p2.xlarge", {"GpuInfo": {}}, False),
    ],
)
def test_the_catalogue_keeps_training_families_and_accelerators_with_efa(
    name: str, fields: dict[str, Any], kept: bool
) -> None:
    record = {"InstanceType": name, "NetworkInfo": {}} | fields

    assert belongs(record) is kept


def test_trimming_drops_fields_and_keeps_names() -> None:
    trimmed = trim(RECORD | {"BareMetal": False})

    assert "BareMetal" not in trimmed
    assert trimmed["ProcessorInfo"] == {"SupportedArchitectures": ["x86_64"]}
    assert trimmed["GpuInfo"] == RECORD["GpuInfo"]

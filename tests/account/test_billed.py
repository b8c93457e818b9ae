"""What is paid for a resource, by what its service describes."""

from typing import Any

import pytest

from trainshed.account.billed import lustre_billed


@pytest.mark.parametrize(
    ("metadata", "charged"),
    [
        pytest.param({"Mode": "USER_PROVISIONED", "Iops": 12000}, {9000}, id="provisioned"),
        pytest.param({"Mode": "USER_PROVISIONED", "Iops": 3000}, set(), id="no-more-than-included"),
        pytest.param({"Mode": "AUTOMATIC", "Iops": 12000}, set(), id="automatic"),
        pytest.param(None, set(), id="without"),
    ],
)
def test_metadata_iops_of_lustre_are_paid_for_above_those_included(
    metadata: dict[str, Any] | None, charged: set[int]
) -> None:
    lustre: dict[str, Any] = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250}
    if metadata:
        lustre["MetadataConfiguration"] = metadata

    billed = lustre_billed(
        {"FileSystemId": "fs-1", "StorageCapacity": 2400, "LustreConfiguration": lustre}
    )

    assert billed.charges
    assert billed.charges[0] == ("lustre/persistent-2/250", 2400)
    assert {units for item, units in billed.charges if item == "lustre/metadata-iops"} == charged

"""FSx data repository associations."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def fsx(client: Callable[..., Any]) -> Any:
    return client("fsx")


@pytest.fixture
def bucket(client: Callable[..., Any], name: str) -> str:
    client("s3").create_bucket(
        Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
    )
    return name


@pytest.fixture
def make_file_system(fsx: Any, subnet: str, group: str) -> Callable[..., str]:
    def make(**lustre: Any) -> str:
        file_system_id: str = fsx.create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=1200,
            SubnetIds=[subnet],
            SecurityGroupIds=[group],
            FileSystemTypeVersion=lustre.pop("version", "2.15"),
            LustreConfiguration={"DeploymentType": "SCRATCH_2", **lustre},
        )["FileSystem"]["FileSystemId"]
        return file_system_id

    return make


@pytest.fixture
def file_system(make_file_system: Callable[..., str]) -> str:
    return make_file_system()


def test_an_association_lives_until_it_is_deleted(
    fsx: Any, file_system: str, bucket: str, refusal: Callable[..., Any]
) -> None:
    policy = {"AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}}
    made = fsx.create_data_repository_association(
        FileSystemId=file_system,
        FileSystemPath="/data",
        DataRepositoryPath=f"s3://{bucket}/wikicorpus/",
        S3=policy,
        Tags=[{"Key": "cluster", "Value": "train"}],
    )["Association"]["AssociationId"]

    by_file_system = fsx.describe_data_repository_associations(
        Filters=[{"Name": "file-system-id", "Values": [file_system]}]
    )["Associations"]
    fsx.update_data_repository_association(AssociationId=made, ImportedFileChunkSize=2048)
    (by_id,) = fsx.describe_data_repository_associations(AssociationIds=[made])["Associations"]
    fsx.delete_data_repository_association(AssociationId=made)

    (one,) = by_file_system
    assert (one["AssociationId"], one["Lifecycle"], one["S3"]) == (made, "AVAILABLE", policy)
    assert one["Tags"] == [{"Key": "cluster", "Value": "train"}]
    assert by_id["ImportedFileChunkSize"] == 2048
    refused = refusal(fsx.describe_data_repository_associations, AssociationIds=[made])
    assert refused.code == "DataRepositoryAssociationNotFound"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"DataRepositoryPath": "s3://nobodys-bucket"}, "does not exist", id="bucket"),
        pytest.param({"DataRepositoryPath": "https://data"}, "s3://bucket-name", id="format"),
        pytest.param({"FileSystemPath": "data"}, "start with a forward slash", id="path"),
        pytest.param({"FileSystemPath": "/held/deep"}, "overlaps with /held", id="inside"),
        pytest.param({"FileSystemPath": "/"}, "overlaps with /held", id="root"),
        pytest.param({"ImportedFileChunkSize": 512001}, "less than or equal to 512000", id="chunk"),
        pytest.param(
            {"S3": {"AutoExportPolicy": {"Events": ["MOVED"]}}}, "NEW, CHANGED", id="event"
        ),
        pytest.param({"FileSystemId": "fs-0123456789abcdef0"}, "does not exist", id="unknown"),
    ],
)
def test_broken_associations_are_refused(
    fsx: Any,
    file_system: str,
    bucket: str,
    refusal: Callable[..., Any],
    change: dict[str, Any],
    words: str,
) -> None:
    good = {"FileSystemId": file_system, "DataRepositoryPath": f"s3://{bucket}/x/"}
    fsx.create_data_repository_association(**good, FileSystemPath="/held")

    refused = refusal(
        fsx.create_data_repository_association, **{**good, "FileSystemPath": "/free", **change}
    )

    assert words in refused.message


def test_a_sibling_path_is_no_overlap(fsx: Any, file_system: str, bucket: str) -> None:
    for path in ("/data", "/data2"):
        fsx.create_data_repository_association(
            FileSystemId=file_system, FileSystemPath=path, DataRepositoryPath=f"s3://{bucket}/x/"
        )

    found = fsx.describe_data_repository_associations(
        Filters=[{"Name": "file-system-id", "Values": [file_system]}]
    )
    assert len(found["Associations"]) == 2


def test_a_ninth_association_is_refused(
    fsx: Any, file_system: str, bucket: str, refusal: Callable[..., Any]
) -> None:
    def link(number: int) -> dict[str, str]:
        return {
            "FileSystemId": file_system,
            "FileSystemPath": f"/{number}",
            "DataRepositoryPath": f"s3://{bucket}/{number}/",
        }

    for number in range(8):
        fsx.create_data_repository_association(**link(number))

    refused = refusal(fsx.create_data_repository_association, **link(8))

    assert refused.code == "ServiceLimitExceeded"


@pytest.mark.parametrize(
    "lustre", [{"DeploymentType": "SCRATCH_1"}, {"version": "2.10"}], ids=["scratch-1", "2.10"]
)
def test_old_file_systems_have_no_associations(
    fsx: Any,
    make_file_system: Callable[..., str],
    bucket: str,
    refusal: Callable[..., Any],
    lustre: dict[str, str],
) -> None:
    refused = refusal(
        fsx.create_data_repository_association,
        FileSystemId=make_file_system(**lustre),
        FileSystemPath="/data",
        DataRepositoryPath=f"s3://{bucket}/x/",
    )

    assert refused.code == "UnsupportedOperation"


def test_a_bucket_of_another_region_is_refused(
    fsx: Any,
    client: Callable[..., Any],
    file_system: str,
    name: str,
    refusal: Callable[..., Any],
) -> None:
    client("s3", "us-east-1").create_bucket(Bucket=f"{name}-far")

    refused = refusal(
        fsx.create_data_repository_association,
        FileSystemId=file_system,
        FileSystemPath="/data",
        DataRepositoryPath=f"s3://{name}-far/x/",
    )

    assert "is in us-east-1" in refused.message

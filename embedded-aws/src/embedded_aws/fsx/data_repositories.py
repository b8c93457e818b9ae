"""FSx data repository associations, which moto does not have.

FSx API reference: an S3 bucket that exists, in the file system's region; at most 8 associations per
file system; file system paths do not overlap, and `/` stands alone; not on SCRATCH_1, Lustre 2.10
or Intelligent-Tiering. Inferred: the exact words. Nothing is copied.
"""

import re
import time
from pathlib import PurePosixPath
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, action, existing
from embedded_aws.fsx.lustre import bad_request, default_version
from embedded_aws.fsx.stored_file_system import find as find_file_system
from embedded_aws.fsx.tables import associations

# An association, as DescribeDataRepositoryAssociations returns it.
Association = dict[str, Any]

_REPOSITORY = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(/.*)?")
_MAXIMUM = 8


def _find(call: Call, association_id: str) -> Association:
    return existing(
        associations(call).get(association_id),
        "DataRepositoryAssociationNotFound",
        f"Data repository association '{association_id}' does not exist.",
    )


@action("fsx", "CreateDataRepositoryAssociation")
def create_data_repository_association(call: Call) -> dict[str, Any]:
    """Link a directory of a Lustre file system to an S3 bucket or prefix."""
    file_system = find_file_system(call, call.params["FileSystemId"])
    _check_file_system(file_system)
    path = call.params.get("FileSystemPath", "/")
    siblings = [
        other
        for other in associations(call).values()
        if other["FileSystemId"] == file_system.file_system_id
    ]
    if len(siblings) >= _MAXIMUM:
        raise Refusal(
            "ServiceLimitExceeded",
            f"A file system can have at most {_MAXIMUM} data repository associations.",
        )
    _check_path(path, [other["FileSystemPath"] for other in siblings])
    _check_bucket(call, call.params["DataRepositoryPath"])
    association_id = f"dra-{mock_random.get_random_hex(17)}"
    arn = call.arn("fsx", f"association/{file_system.file_system_id}/{association_id}")
    associations(call)[association_id] = {
        "AssociationId": association_id,
        "ResourceARN": arn,
        "FileSystemId": file_system.file_system_id,
        "Lifecycle": "AVAILABLE",
        "FileSystemPath": path,
        "BatchImportMetaDataOnCreate": False,
        "ImportedFileChunkSize": 1024,
        "S3": {},
        **call.params,
        "CreationTime": time.time(),
    }
    call.backend("fsx").tag_resource(
        arn, {tag["Key"]: tag["Value"] for tag in call.params.get("Tags", [])}
    )
    return {"Association": {**_described(call, association_id), "Lifecycle": "CREATING"}}


@action("fsx", "DescribeDataRepositoryAssociations")
def describe_data_repository_associations(call: Call) -> dict[str, Any]:
    """Describe associations by id or by file system."""
    ids = call.params.get("AssociationIds", [])
    found = [_described(call, _find(call, i)["AssociationId"]) for i in ids or associations(call)]
    for wanted in call.params.get("Filters", []):
        if wanted["Name"] == "file-system-id":
            found = [one for one in found if one["FileSystemId"] in wanted["Values"]]
        elif wanted["Name"] == "data-repository-type":
            found = found if "S3" in wanted["Values"] else []
        else:
            raise bad_request(f"The filter '{wanted['Name']}' is not supported.")
    return {"Associations": found}


@action("fsx", "UpdateDataRepositoryAssociation")
def update_data_repository_association(call: Call) -> dict[str, Any]:
    """Change the chunk size or the automatic import and export."""
    association = _find(call, call.params["AssociationId"])
    for key in ("ImportedFileChunkSize", "S3"):
        if key in call.params:
            association[key] = call.params[key]
    return {"Association": _described(call, association["AssociationId"])}


@action("fsx", "DeleteDataRepositoryAssociation")
def delete_data_repository_association(call: Call) -> dict[str, Any]:
    """Delete an association; the data in S3 stays."""
    association_id = _find(call, call.params["AssociationId"])["AssociationId"]
    del associations(call)[association_id]
    return {
        "AssociationId": association_id,
        "Lifecycle": "DELETING",
        "DeleteDataInFileSystem": call.params.get("DeleteDataInFileSystem", False),
    }


def _described(call: Call, association_id: str) -> Association:
    association = associations(call)[association_id]
    tags = call.backend("fsx").list_tags_for_resource(association["ResourceARN"])
    return {**association, "Tags": tags}


def _check_file_system(file_system: Any) -> None:
    if file_system.file_system_type != "LUSTRE":
        raise Refusal(
            "UnsupportedOperation", "Data repository associations are for Lustre file systems."
        )
    described = file_system.to_dict()
    lustre = described["LustreConfiguration"]
    version = described.get("FileSystemTypeVersion", default_version(file_system.params))
    if (
        lustre["DeploymentType"] == "SCRATCH_1"
        or version == "2.10"
        or described["StorageType"] == "INTELLIGENT_TIERING"
    ):
        raise Refusal(
            "UnsupportedOperation",
            "Data repository associations are not supported on SCRATCH_1 or Intelligent-Tiering "
            "file systems, nor on Lustre 2.10: this one is "
            f"{lustre['DeploymentType']} {described['StorageType']}, Lustre {version}.",
        )
    if "DataRepositoryConfiguration" in lustre:
        raise bad_request("A file system with ImportPath cannot have data repository associations.")


def _check_path(path: str, others: list[str]) -> None:
    if not path.startswith("/"):
        raise bad_request(f"FileSystemPath {path} must start with a forward slash.")
    for other in others:
        one, two = PurePosixPath(path), PurePosixPath(other)
        if one.is_relative_to(two) or two.is_relative_to(one):
            raise bad_request(
                f"FileSystemPath {path} overlaps with {other} of another data repository "
                "association."
            )


def _check_bucket(call: Call, path: str) -> None:
    found = _REPOSITORY.fullmatch(path)
    if not found:
        raise bad_request(
            f"DataRepositoryPath {path} must be in the format s3://bucket-name/prefix/."
        )
    bucket = call.backend("s3").buckets.get(found[1])
    if bucket is None:
        raise bad_request(f"Amazon FSx is unable to access bucket {found[1]}: it does not exist.")
    if bucket.region_name != call.region:
        raise bad_request(
            f"Bucket {found[1]} is in {bucket.region_name}; it must be in the file system's region "
            f"{call.region}."
        )

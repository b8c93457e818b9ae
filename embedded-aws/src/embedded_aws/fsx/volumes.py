"""The root volumes of OpenZFS file systems; the embedded AWS makes no others.

FSx API reference: a root volume goes with its file system.
"""

from collections.abc import Iterator
from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.fsx.lustre import bad_request
from embedded_aws.fsx.openzfs import check_volume
from embedded_aws.fsx.openzfs_file_system import OpenZfsFileSystem


def _file_systems(call: Call) -> Iterator[OpenZfsFileSystem]:
    for found in call.backend("fsx").file_systems.values():
        if isinstance(found, OpenZfsFileSystem):
            yield found


def _owner(call: Call, volume_id: str) -> OpenZfsFileSystem:
    for found in _file_systems(call):
        if found.volume_id == volume_id:
            return found
    raise Refusal("VolumeNotFound", f"Volume '{volume_id}' does not exist.")


@action("fsx", "DescribeVolumes")
def describe_volumes(call: Call) -> dict[str, Any]:
    """Describe volumes by id or by file system."""
    ids = call.params.get("VolumeIds", [])
    found = [_owner(call, each) for each in ids] if ids else list(_file_systems(call))
    for wanted in call.params.get("Filters", []):
        if wanted["Name"] != "file-system-id":
            raise bad_request(f"The filter '{wanted['Name']}' is not supported.")
        found = [each for each in found if each.file_system_id in wanted["Values"]]
    return {"Volumes": [each.root_volume() for each in found]}


@action("fsx", "UpdateVolume")
def update_volume(call: Call) -> dict[str, Any]:
    """Change a root volume, at once."""
    owner = _owner(call, call.params["VolumeId"])
    changes = call.params.get("OpenZFSConfiguration", {})
    check_volume(changes)
    owner.change_volume(changes)
    return {"Volume": owner.root_volume()}


@action("fsx", "DeleteVolume")
def delete_volume(call: Call) -> dict[str, Any]:
    """Refuse to delete a root volume."""
    owner = _owner(call, call.params["VolumeId"])
    raise bad_request(
        f"Volume {owner.volume_id} is the root volume of file system {owner.file_system_id}, with "
        "which it is deleted."
    )

"""FSx file systems: Lustre and OpenZFS; other kinds are moto's.

FSx API reference: a client request token makes one file system; network interfaces hold subnet and
security groups. A new file system is AVAILABLE at once.
"""

from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.fsx.backups import back_up
from embedded_aws.fsx.lustre import bad_request
from embedded_aws.fsx.lustre_file_system import LustreFileSystem
from embedded_aws.fsx.openzfs_file_system import OpenZfsFileSystem
from embedded_aws.fsx.stored_file_system import StoredFileSystem, find
from embedded_aws.fsx.tables import associations

_KINDS: dict[str, type[StoredFileSystem]] = {
    kind.file_system_type: kind for kind in (LustreFileSystem, OpenZfsFileSystem)
}


@action("fsx", "CreateFileSystem")
def create_file_system(call: Call) -> Any:
    """Create a file system; the same ClientRequestToken returns the same one."""
    kind = _KINDS.get(call.params["FileSystemType"])
    if kind is None:
        return call.moto()
    tokens = call.state("fsx", "tokens", dict[str, tuple[Any, StoredFileSystem]])
    token = call.params.get("ClientRequestToken")
    if token in tokens:
        params, made = tokens[token]
        if params != call.params:
            raise Refusal(
                "IncompatibleParameterError",
                "The client request token was used before with different parameters.",
            )
        return {"FileSystem": made.to_dict()}
    kind.check(call.params)
    created = kind(call, kind.network(call))
    backend = call.backend("fsx")
    backend.file_systems[created.file_system_id] = created
    backend.tag_resource(
        created.resource_arn, {tag["Key"]: tag["Value"] for tag in call.params.get("Tags", [])}
    )
    if token:
        tokens[token] = call.params, created
    return {"FileSystem": {**created.to_dict(), "Lifecycle": "CREATING"}}


@action("fsx", "DescribeFileSystems")
def describe_file_systems(call: Call) -> Any:
    """Describe file systems; an unknown id is refused."""
    for file_system_id in call.params.get("FileSystemIds", []):
        find(call, file_system_id)
    return call.moto()


@action("fsx", "UpdateFileSystem")
def update_file_system(call: Call) -> dict[str, Any]:
    """Change a file system, at once."""
    found = find(call, call.params["FileSystemId"])
    if not isinstance(found, StoredFileSystem):
        raise bad_request("the embedded AWS updates Lustre and OpenZFS file systems only.")
    before, own = found.params, found.configuration
    for kind in _KINDS.values():
        if kind.configuration != own and kind.configuration in call.params:
            raise bad_request(f"{kind.configuration} is not for {found.name} file systems.")
    after = {
        **before,
        **{
            key: call.params[key]
            for key in ("StorageCapacity", "FileSystemTypeVersion")
            if key in call.params
        },
        own: {**before.get(own, {}), **call.params.get(own, {})},
    }
    found.check_update(after)
    found.check(after)
    found.change(after)
    return {"FileSystem": found.to_dict()}


@action("fsx", "DeleteFileSystem")
def delete_file_system(call: Call) -> Any:
    """Delete a file system, its network interfaces and its associations."""
    found = find(call, call.params["FileSystemId"])
    if not isinstance(found, StoredFileSystem):
        return call.moto()
    answer: dict[str, Any] = {"FileSystemId": found.file_system_id, "Lifecycle": "DELETING"}
    given = call.params.get(found.configuration, {})
    if not given.get("SkipFinalBackup", found.skips_final_backup):
        backup = back_up(call, found, given.get("FinalBackupTags", []))
        answer[found.configuration.replace("Configuration", "Response")] = {
            "FinalBackupId": backup["BackupId"]
        }
    for interface_id in found.interface_ids:
        call.backend("ec2").get_network_interface(interface_id).delete()
    for association_id, association in list(associations(call).items()):
        if association["FileSystemId"] == found.file_system_id:
            del associations(call)[association_id]
    del call.backend("fsx").file_systems[found.file_system_id]
    return answer

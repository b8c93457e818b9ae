"""FSx file systems and their links to S3."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed
from embedded_aws.cloudformation.handlers.tags import Tagging, all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


class _FsxHandler(Handler):
    service = "fsx"
    tagging = Tagging(target="ResourceARN", by="ResourceARN")


@resource("AWS::FSx::FileSystem")
class FileSystem(_FsxHandler):
    """A file system; its Ref is the file system's id, `fs-...`."""

    gone = ("FileSystemNotFound",)

    _changeable = (
        "FileSystemTypeVersion",
        "LustreConfiguration",
        "NetworkType",
        "OntapConfiguration",
        "OpenZFSConfiguration",
        "StorageCapacity",
        "StorageType",
        "WindowsConfiguration",
    )

    def _create(self, request: Request) -> str:
        wanted = {**request.properties, "Tags": tag_list(all_tags(request))}
        return str(self._call(request, "CreateFileSystem", wanted)["FileSystem"]["FileSystemId"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        change: dict[str, Any] = {}
        for name in self._changeable:
            if name in request.properties and changed(request, before, name):
                value = request.properties[name]
                if isinstance(value, Mapping):
                    # UpdateFileSystem does not accept what only the creation may set.
                    old = before.get(name, {})
                    value = {key: part for key, part in value.items() if part != old.get(key)}
                change[name] = value
        if change:
            self._call(request, "UpdateFileSystem", change, FileSystemId=physical_id)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("fsx").describe_file_systems(FileSystemIds=[physical_id])
        file_system = reply["FileSystems"][0]
        openzfs = file_system.get("OpenZFSConfiguration", {})
        return {
            "Id": physical_id,
            "DNSName": file_system["DNSName"],
            "LustreMountName": file_system.get("LustreConfiguration", {}).get("MountName", ""),
            "ResourceARN": file_system["ResourceARN"],
            "RootVolumeId": openzfs.get("RootVolumeId", ""),
        }

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("fsx").delete_file_system(FileSystemId=physical_id)


@resource("AWS::FSx::DataRepositoryAssociation")
class DataRepositoryAssociation(_FsxHandler):
    """A link between a path of a file system and S3; its Ref is the association's id."""

    gone = ("DataRepositoryAssociationNotFound",)

    def _create(self, request: Request) -> str:
        wanted = {**request.properties, "Tags": tag_list(all_tags(request))}
        reply = self._call(request, "CreateDataRepositoryAssociation", wanted)
        return str(reply["Association"]["AssociationId"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        change = {
            name: request.properties[name]
            for name in ("ImportedFileChunkSize", "S3")
            if name in request.properties and changed(request, before, name)
        }
        if change:
            change["AssociationId"] = physical_id
            self._call(request, "UpdateDataRepositoryAssociation", change)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("fsx").describe_data_repository_associations(
            AssociationIds=[physical_id]
        )
        association = reply["Associations"][0]
        return {"AssociationId": physical_id, "ResourceARN": association["ResourceARN"]}

    def _delete(self, request: Request, physical_id: str) -> None:
        # The files stay in the file system, as the resource type's documentation says.
        request.client("fsx").delete_data_repository_association(
            AssociationId=physical_id, DeleteDataInFileSystem=False
        )

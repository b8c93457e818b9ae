"""FSx file systems and their links to S3."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler, changed
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


class _FsxHandler(Handler):
    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        fsx = request.client("fsx")
        arn = self._attributes(request, physical_id)["ResourceARN"]
        if tags:
            fsx.tag_resource(ResourceARN=arn, Tags=tag_list(tags))
        if stale:
            fsx.untag_resource(ResourceARN=arn, TagKeys=stale)


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
        fsx = request.client("fsx")
        taken = arguments(fsx, "CreateFileSystem", request.properties, leave=("Tags",))
        reply = fsx.create_file_system(**taken, Tags=tag_list(all_tags(request)))
        file_system_id: str = reply["FileSystem"]["FileSystemId"]
        return file_system_id

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        fsx = request.client("fsx")
        change: dict[str, Any] = {}
        for name in self._changeable:
            if name in request.properties and changed(request, before, name):
                value = request.properties[name]
                if isinstance(value, Mapping):
                    # UpdateFileSystem takes what changes, not what only a creation may say.
                    old = before.get(name, {})
                    value = {key: part for key, part in value.items() if part != old.get(key)}
                change[name] = value
        if change:
            taken = arguments(fsx, "UpdateFileSystem", change)
            fsx.update_file_system(FileSystemId=physical_id, **taken)

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
        fsx = request.client("fsx")
        taken = arguments(
            fsx, "CreateDataRepositoryAssociation", request.properties, leave=("Tags",)
        )
        reply = fsx.create_data_repository_association(**taken, Tags=tag_list(all_tags(request)))
        association_id: str = reply["Association"]["AssociationId"]
        return association_id

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        change = {
            name: request.properties[name]
            for name in ("ImportedFileChunkSize", "S3")
            if name in request.properties and changed(request, before, name)
        }
        if change:
            fsx = request.client("fsx")
            taken = arguments(fsx, "UpdateDataRepositoryAssociation", change)
            fsx.update_data_repository_association(AssociationId=physical_id, **taken)

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

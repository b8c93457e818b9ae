"""FSx file systems and their links to S3."""

from collections.abc import Mapping
from typing import Any, ClassVar

from embedded_aws.cloudformation.handlers.handler import Handler, changed
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource


class _FsxHandler(Handler):
    service = "fsx"
    tagging = Tagging(target="ResourceARN", by="ResourceARN")


@resource("AWS::FSx::FileSystem")
class FileSystem(_FsxHandler):
    """A file system; its Ref is the file system's id, `fs-...`."""

    target = "FileSystemId"
    creation = "CreateFileSystem", "FileSystem.FileSystemId"
    reading = "DescribeFileSystems", "FileSystems"
    deletion = "DeleteFileSystem"
    attributes: ClassVar[Mapping[str, str]] = {
        "LustreMountName": "LustreConfiguration.MountName",
        "RootVolumeId": "OpenZFSConfiguration.RootVolumeId",
    }

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


@resource("AWS::FSx::DataRepositoryAssociation")
class DataRepositoryAssociation(_FsxHandler):
    """A link between a path of a file system and S3; its Ref is the association's id."""

    target = "AssociationId"
    creation = "CreateDataRepositoryAssociation", "Association.AssociationId"
    changing = "UpdateDataRepositoryAssociation"
    reading = "DescribeDataRepositoryAssociations", "Associations"

    def _delete(self, request: Request, physical_id: str) -> None:
        # The files stay in the file system, as the resource type's documentation says.
        request.client("fsx").delete_data_repository_association(
            AssociationId=physical_id, DeleteDataInFileSystem=False
        )

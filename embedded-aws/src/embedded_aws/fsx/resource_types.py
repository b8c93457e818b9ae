"""FSx file systems and their links to S3."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import accepted
from embedded_aws.cloudformation.handlers.handler import Handler, changes, present
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource

_OPENZFS = "OpenZFSConfiguration"


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
    attributes = {
        "LustreMountName": "LustreConfiguration.MountName",
        "RootVolumeId": "OpenZFSConfiguration.RootVolumeId",
    }

    def _wanted(self, request: Request) -> dict[str, Any]:
        return _without_options(super()._wanted(request))

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        before = _without_options(before)
        wanted = changes(before, _without_options(request.properties))
        # UpdateFileSystem does not accept what only the creation may set.
        change = {
            name: changes(before.get(name, {}), wanted[name])
            if isinstance(wanted[name], Mapping)
            else wanted[name]
            for name in accepted(request.client("fsx"), "UpdateFileSystem", wanted)
        }
        if change:
            self._call(request, "UpdateFileSystem", change, FileSystemId=physical_id)

    def _delete(self, request: Request, physical_id: str) -> None:
        # Inferred: without a word of the template, FSx's own default for the last backup holds.
        openzfs = present(request.properties.get(_OPENZFS, {}), "Options")
        given = {_OPENZFS: openzfs} if openzfs else {}
        self._call(request, self.deletion, given, FileSystemId=physical_id)


def _without_options(properties: Properties) -> dict[str, Any]:
    """Return properties without the options of the deletion."""
    return {
        name: {key: part for key, part in value.items() if key != "Options"}
        if name == _OPENZFS
        else value
        for name, value in properties.items()
    }


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

"""File systems of EFS, their mount targets and access points."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from embedded_aws.cloudformation.handlers.handler import Handler, renamed
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.handlers.tags import Tagging, tag_list
from embedded_aws.cloudformation.resource import Made, Properties, Request, resource


def _settable(tags: Mapping[str, str]) -> list[Any]:
    """Return tags without those that the API refuses; CloudFormation sets these without it."""
    return tag_list({key: text for key, text in tags.items() if not key.startswith("aws:")})


class _TaggedHandler(Handler):
    """A type whose property with tags has a name of its own.

    Attributes:
        tags: the property.
    """

    service = "efs"
    tagging = Tagging(target="ResourceId", form=_settable)
    tags: ClassVar[str]

    def create(self, request: Request) -> Made:
        """Create the resource."""
        return super().create(self._with_tags(request))

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        """Change the resource in place."""
        former = renamed(before, **{self.tags: "Tags"})
        return super().update(self._with_tags(request), physical_id, former)

    def _with_tags(self, request: Request) -> Request:
        return replace(request, properties=renamed(request.properties, **{self.tags: "Tags"}))


def _overwriting(value: Mapping[str, Any]) -> Any:
    return value["ReplicationOverwriteProtection"]


@resource("AWS::EFS::FileSystem")
class FileSystem(_TaggedHandler):
    """A file system; its Ref is its id, `fs-...`."""

    target = "FileSystemId"
    tags = "FileSystemTags"
    creation = "CreateFileSystem", "FileSystemId"
    changing = "UpdateFileSystem"
    defaults = {"ThroughputMode": "bursting"}
    reading = "DescribeFileSystems", "FileSystems"
    deletion = "DeleteFileSystem"
    attributes = {"Arn": "FileSystemArn"}
    settings = {
        "FileSystemProtection": Setting(
            put="UpdateFileSystemProtection",
            argument="ReplicationOverwriteProtection",
            neutral={"ReplicationOverwriteProtection": "ENABLED"},
            reshape=_overwriting,
        ),
        "LifecyclePolicies": Setting(put="PutLifecycleConfiguration", neutral=[]),
        "BackupPolicy": Setting(put="PutBackupPolicy", neutral={"Status": "DISABLED"}),
        "FileSystemPolicy": Setting(
            put="PutFileSystemPolicy", argument="Policy", remove="DeleteFileSystemPolicy"
        ),
    }
    later = tuple(settings)


@resource("AWS::EFS::MountTarget")
class MountTarget(Handler):
    """A mount target; its Ref is its id, `fsmt-...`."""

    service = "efs"
    target = "MountTargetId"
    creation = "CreateMountTarget", "MountTargetId"
    reading = "DescribeMountTargets", "MountTargets"
    deletion = "DeleteMountTarget"
    settings = {"SecurityGroups": Setting(put="ModifyMountTargetSecurityGroups", neutral=[])}


@resource("AWS::EFS::AccessPoint")
class AccessPoint(_TaggedHandler):
    """An access point; its Ref is its id, `fsap-...`."""

    target = "AccessPointId"
    tags = "AccessPointTags"
    creation = "CreateAccessPoint", "AccessPointId"
    reading = "DescribeAccessPoints", "AccessPoints"
    deletion = "DeleteAccessPoint"
    attributes = {"Arn": "AccessPointArn"}

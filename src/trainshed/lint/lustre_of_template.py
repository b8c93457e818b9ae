"""The Lustre file systems that a CloudFormation template makes."""

from trainshed.lint.model import Known, LustreFileSystem
from trainshed.lint.template import Resource, Template

FILE_SYSTEM = "AWS::FSx::FileSystem"


def file_systems(template: Template) -> tuple[LustreFileSystem, ...]:
    """Return the file systems of FSx for Lustre."""
    return tuple(map(_file_system, filter(_is_lustre, template.of_type(FILE_SYSTEM))))


def _is_lustre(resource: Resource) -> bool:
    kind = resource.get("FileSystemType").text()
    return isinstance(kind, Known) and kind.value == "LUSTRE"


def _file_system(resource: Resource) -> LustreFileSystem:
    lustre = resource.get("LustreConfiguration")
    return LustreFileSystem(
        name=resource.logical_id,
        path=resource.path,
        deployment=lustre.get("DeploymentType").text(),
        storage_type=resource.get("StorageType").text(),
        capacity_gib=resource.get("StorageCapacity").whole(),
        throughput=lustre.get("PerUnitStorageThroughput").whole(),
        version=resource.get("FileSystemTypeVersion").text(),
        efa=lustre.get("EfaEnabled").flag(),
        metadata=lustre.get("MetadataConfiguration", "Mode").text(),
        security_groups=resource.get("SecurityGroupIds").references(),
    )

"""The Lustre file systems that a CloudFormation template makes."""

from trainshed.lint.model import Known, LintedFileSystem
from trainshed.lint.template import Template, TemplateResource

FILE_SYSTEM = "AWS::FSx::FileSystem"


def file_systems(template: Template) -> tuple[LintedFileSystem, ...]:
    """Return the file systems of FSx for Lustre."""
    return tuple(map(_file_system, filter(_is_lustre, template.of_type(FILE_SYSTEM))))


def _is_lustre(resource: TemplateResource) -> bool:
    kind = resource.get("FileSystemType").text()
    return isinstance(kind, Known) and kind.value == "LUSTRE"


def _file_system(resource: TemplateResource) -> LintedFileSystem:
    lustre = resource.get("LustreConfiguration")
    return LintedFileSystem(
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

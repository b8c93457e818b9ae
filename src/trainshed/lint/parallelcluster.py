"""Read a configuration of AWS ParallelCluster 3.

Fields and defaults are those of its user guide,
https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html, and of
`cli/src/pcluster/{schemas/cluster_schema,config/cluster_config}.py` of
github.com/aws/aws-parallelcluster.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from trainshed.documents.problems import Path
from trainshed.documents.yaml import Value
from trainshed.lint.model import (
    FileKind,
    Given,
    Known,
    LintedFile,
    LintedFileSystem,
    NodeGroup,
    Unknown,
    single,
)
from trainshed.lint.reading import Content
from trainshed.lint.section import FileSection

T = TypeVar("T")
# The user guide, "Scheduling section", MaxCount and MinCount.
_DEFAULT_MAX_COUNT, _DEFAULT_MIN_COUNT = 10, 0
_PURCHASES = {"ONDEMAND": "on-demand", "SPOT": "spot", "CAPACITY_BLOCK": "capacity-block"}
# cluster_config.py, SharedFsxLustre.
_LUSTRE_VERSION = "2.15"
_LAUNCH = "ParallelCluster"
_TARGET = "CapacityReservationTarget"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueNodes(NodeGroup):
    """The nodes of a compute resource of a Slurm queue.

    Attributes:
        nodes_min: how many there always are.
        placement: whether the file turns a placement group on or off; None where it says nothing.
        reservation: id of the capacity reservation or block, or ARN of a group of them.
        public_addresses: whether the queue asks for them.
        security_groups: that take the place of the one that ParallelCluster makes.
    """

    nodes_min: Given[int] = None
    placement: Given[bool] = None
    reservation: Given[str] = None
    public_addresses: Given[bool] = None
    security_groups: Given[tuple[str, ...]] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchNodes(NodeGroup):
    """The nodes of a queue of AWS Batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelCluster(LintedFile):
    """A configuration of ParallelCluster.

    Attributes:
        scheduler: `slurm` or `awsbatch`.
        system: the operating system of all nodes, for instance `alinux2023`.
        lustre_mounts: where it mounts FSx for Lustre, file systems that exist among them.
    """

    scheduler: Given[str] = None
    system: Given[str] = None
    lustre_mounts: tuple[Path, ...] = ()


def is_parallelcluster(value: Mapping[str, Value]) -> bool:
    """Whether a mapping is a configuration of ParallelCluster 3."""
    return "HeadNode" in value and "Scheduling" in value


def read_parallelcluster(content: Content) -> tuple[ParallelCluster]:
    """Return what a configuration of ParallelCluster 3 asks of AWS.

    Raises:
        UnreadableFile: a list of queues or the like is none.
    """
    root = FileSection(value=content.value, path=(), where=content.where)
    storage = [
        entry
        for entry in root.sections("SharedStorage")
        if entry.text("StorageType") == Known(value="FsxLustre", path=(*entry.path, "StorageType"))
    ]
    cluster = ParallelCluster(
        kind=FileKind.PARALLELCLUSTER,
        where=content.where,
        region=root.text("Region"),
        scheduler=root.text("Scheduling", "Scheduler"),
        system=root.text("Image", "Os"),
        groups=(*_access_nodes(root), *_slurm(root), *_batch(root)),
        file_systems=tuple(_file_systems(storage)),
        lustre_mounts=tuple(entry.path for entry in storage),
    )
    return (cluster,)


def parallelclusters(document: LintedFile) -> tuple[ParallelCluster, ...]:
    """Return the file itself, if it is a configuration of ParallelCluster."""
    return (document,) if isinstance(document, ParallelCluster) else ()


def slurm_nodes(document: LintedFile) -> tuple[QueueNodes, ...]:
    """Return the nodes of Slurm queues in a file; none of a file of another kind."""
    return tuple(group for group in document.groups if isinstance(group, QueueNodes))


def batch_nodes(document: LintedFile) -> tuple[BatchNodes, ...]:
    """Return the nodes of queues of AWS Batch in a file of ParallelCluster."""
    return tuple(group for group in document.groups if isinstance(group, BatchNodes))


def _access_nodes(root: FileSection) -> Iterator[NodeGroup]:
    """Yield the head node and the pools of login nodes."""
    head = root.section("HeadNode")
    one = Known(value=1, path=head.path)
    yield _plain(root, head, "head node", one, single(head.text("Networking", "SubnetId")))
    for pool in root.sections("LoginNodes", "Pools"):
        name = f"login nodes {_name(pool)}"
        yield _plain(
            root, pool, name, pool.whole("Count"), pool.references("Networking", "SubnetIds")
        )


def _plain(
    root: FileSection,
    nodes: FileSection,
    name: str,
    count: Given[int],
    subnets: Given[tuple[str, ...]],
) -> NodeGroup:
    return NodeGroup(
        name=name,
        path=nodes.path,
        launch=_LAUNCH,
        instance_types=single(nodes.text("InstanceType")),
        nodes=count,
        image=_image(root, nodes),
        image_type=root.text("Image", "Os"),
        subnets=subnets,
    )


def _slurm(root: FileSection) -> Iterator[QueueNodes]:
    for queue in root.sections("Scheduling", "SlurmQueues"):
        for resource in queue.sections("ComputeResources"):
            placement, placement_group = _placement(resource, queue)
            yield QueueNodes(
                name=f"{_name(queue)}/{_name(resource)}",
                path=resource.path,
                launch=_LAUNCH,
                instance_types=_instance_types(resource, queue),
                nodes=resource.whole("MaxCount") or _default(_DEFAULT_MAX_COUNT, resource),
                nodes_min=resource.whole("MinCount") or _default(_DEFAULT_MIN_COUNT, resource),
                efa=resource.flag("Efa", "Enabled") or _default(False, resource),
                placement=placement,
                placement_group=placement_group,
                image=_image(root, queue),
                image_type=root.text("Image", "Os"),
                subnets=queue.references("Networking", "SubnetIds"),
                purchase=_purchase(queue),
                reservation=_reservation(resource) or _reservation(queue),
                public_addresses=queue.flag("Networking", "AssignPublicIp"),
                security_groups=queue.references("Networking", "SecurityGroups"),
            )


def _batch(root: FileSection) -> Iterator[BatchNodes]:
    for queue in root.sections("Scheduling", "AwsBatchQueues"):
        for resource in queue.sections("ComputeResources"):
            yield BatchNodes(
                name=f"{_name(queue)}/{_name(resource)}",
                path=resource.path,
                launch=_LAUNCH,
                instance_types=resource.texts("InstanceTypes"),
                nodes=Unknown(why="MaxvCpus and the types", path=(*resource.path, "MaxvCpus")),
                efa=_default(False, resource),
                subnets=queue.references("Networking", "SubnetIds"),
                purchase=_purchase(queue),
            )


def _file_systems(storage: list[FileSection]) -> Iterator[LintedFileSystem]:
    """Yield the file systems that ParallelCluster makes."""
    for entry in storage:
        settings = entry.section("FsxLustreSettings")
        if settings.gives("FileSystemId"):
            continue
        # A backup decides what the file does not.
        backup = settings.text("BackupId")
        decided = Unknown(why="the backup", path=backup.path) if backup else None
        yield LintedFileSystem(
            name=_name(entry),
            path=settings.path,
            deployment=settings.text("DeploymentType") or decided or _default("SCRATCH_2", entry),
            storage_type=settings.text("StorageType") or decided or _default("SSD", entry),
            capacity_gib=settings.whole("StorageCapacity") or decided,
            throughput=settings.whole("PerUnitStorageThroughput") or decided,
            version=decided or _default(_LUSTRE_VERSION, entry),
        )


def _placement(resource: FileSection, queue: FileSection) -> tuple[Given[bool], Given[str]]:
    """Return whether the file says so, and which group: the compute resource's own word first."""
    for section in (resource, queue):
        enabled = section.flag("Networking", "PlacementGroup", "Enabled")
        named = section.text("Networking", "PlacementGroup", "Id") or section.text(
            "Networking", "PlacementGroup", "Name"
        )
        if isinstance(enabled, Known) and not enabled.value:
            return enabled, None
        if named:
            return enabled or Known(value=True, path=named.path), named
        if isinstance(enabled, Known):
            return enabled, Known(value="cluster", path=enabled.path)
        if enabled:
            return enabled, enabled
    return None, None


def _instance_types(resource: FileSection, queue: FileSection) -> Given[tuple[str, ...]]:
    if resource.gives("Instances"):
        several = [entry.text("InstanceType") for entry in resource.sections("Instances")]
        known = [each.value for each in several if isinstance(each, Known)]
        doubtful = next((each for each in several if isinstance(each, Unknown)), None)
        return doubtful or Known(value=tuple(known), path=(*resource.path, "Instances"))
    # "Launch instances with Capacity Blocks": with a reservation the type may be left out.
    reservation = _reservation(resource) or _reservation(queue)
    decided = (
        Unknown(why="the capacity reservation", path=reservation.path) if reservation else None
    )
    return single(resource.text("InstanceType")) or decided


def _reservation(section: FileSection) -> Given[str]:
    return section.text(_TARGET, "CapacityReservationId") or section.text(
        _TARGET, "CapacityReservationResourceGroupArn"
    )


def _purchase(queue: FileSection) -> Given[str]:
    given = queue.text("CapacityType")
    if not isinstance(given, Known):
        return given or _default("on-demand", queue)
    if given.value not in _PURCHASES:
        allowed = ", ".join(_PURCHASES)
        return Unknown(why=f"{given.value!r} is none of {allowed}", path=given.path)
    return Known(value=_PURCHASES[given.value], path=given.path)


def _image(root: FileSection, nodes: FileSection) -> Given[str]:
    return nodes.text("Image", "CustomAmi") or root.text("Image", "CustomAmi")


def _name(section: FileSection) -> str:
    name = section.text("Name")
    return name.value if isinstance(name, Known) else ".".join(map(str, section.path))


def _default(value: T, section: FileSection) -> Known[T]:
    return Known(value=value, path=section.path)

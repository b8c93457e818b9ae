"""What a file that is not ours asks of AWS, as far as the file alone says it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from trainshed.documents.problems import Path, Where

S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Generic[T_co]):
    """A value that the file gives.

    Attributes:
        value: resolved.
        path: where in the file it stands.
        defaults: parameters of the template whose default it rests on.
    """

    value: T_co
    path: Path
    defaults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A value that the file does not decide.

    Attributes:
        why: what decides it, for instance `parameter ImageId, which has no default`.
        path: where in the file it stands.
    """

    why: str
    path: Path


# What a file gives for a setting; None where it gives nothing.
Given = Known[T] | Unknown | None


def converted(given: Given[S], convert: Callable[[S], T]) -> Given[T]:
    """Return what a file gives in another form; what it does not decide stays undecided."""
    if isinstance(given, Known):
        return Known(value=convert(given.value), path=given.path, defaults=given.defaults)
    return given


def single(given: Given[T]) -> Given[tuple[T]]:
    """Return one value where a list may stand."""
    return converted(given, lambda value: (value,))


class FileKind(StrEnum):
    """What a file is."""

    CLOUDFORMATION = "CloudFormation template"
    EKSCTL = "eksctl cluster file"
    PARALLELCLUSTER = "ParallelCluster configuration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """A network interface of each node of a group.

    Attributes:
        path: where in the file it stands.
        card: index of its network card.
        device: its device index on the card.
        kind: `interface`, `efa` or `efa-only`.
        public_address: whether it gets one.
        security_groups: ids or references.
    """

    path: Path
    card: Given[int]
    device: Given[int]
    kind: Given[str]
    public_address: Given[bool]
    security_groups: Given[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroup:
    """Nodes of one kind: a launch template, a compute environment, a node group, a queue's nodes.

    Attributes:
        name: for messages: its logical id, or its name in the file.
        path: where in the file it stands.
        launch: who launches the nodes: for instance `AWS::Batch::ComputeEnvironment`, `eksctl`.
        instance_types: that it may launch.
        nodes: how many there may be.
        interfaces: those that the file lists itself; None where the tool makes them.
        efa: whether the tool is asked for EFA.
        placement_group: name, id or reference of the group; `cluster` where the tool makes one.
        image: AMI id, SSM path or reference.
        image_type: name of the family of AMIs, for instance `ECS_AL2` or `AmazonLinux2`.
        subnets: ids or references.
        zones: names or ids of availability zones.
        purchase: `on-demand`, `spot` or `capacity-block`.
        root_gib: size of the root volume, in GiB.
    """

    name: str
    path: Path
    launch: str
    instance_types: Given[tuple[str, ...]] = None
    nodes: Given[int] = None
    interfaces: Given[tuple[Interface, ...]] = None
    efa: Given[bool] = None
    placement_group: Given[str] = None
    image: Given[str] = None
    image_type: Given[str] = None
    subnets: Given[tuple[str, ...]] = None
    zones: Given[tuple[str, ...]] = None
    purchase: Given[str] = None
    root_gib: Given[int] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A control plane of EKS.

    Attributes:
        name: for messages.
        path: where in the file it stands.
        version: of Kubernetes.
        support: `STANDARD` or `EXTENDED`.
        public: whether its API server is reached over the internet.
        public_cidrs: from which ranges of addresses.
    """

    name: str
    path: Path
    version: Given[str] = None
    support: Given[str] = None
    public: Given[bool] = None
    public_cidrs: Given[tuple[str, ...]] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LintedFileSystem:
    """A file system of FSx for Lustre.

    Attributes:
        name: for messages.
        path: where in the file it stands.
        deployment: `SCRATCH_2`, `PERSISTENT_2` and so on.
        storage_type: `SSD`, `HDD` or `INTELLIGENT_TIERING`.
        capacity_gib: its size.
        throughput: MB/s per TiB.
        version: of Lustre.
        efa: whether it can be reached over EFA.
        metadata: the mode of its metadata configuration.
        security_groups: ids or references.
    """

    name: str
    path: Path
    deployment: Given[str] = None
    storage_type: Given[str] = None
    capacity_gib: Given[int] = None
    throughput: Given[int] = None
    version: Given[str] = None
    efa: Given[bool] = None
    metadata: Given[str] = None
    security_groups: Given[tuple[str, ...]] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LintedFile:
    """A file of one of the kinds.

    A file whose conditions depend on parameters is several documents, one for each case.

    Attributes:
        kind: what it is.
        where: the file, and where its values stand.
        region: that it names.
        groups: its nodes.
        file_systems: those of FSx for Lustre that it makes.
        control_planes: those of EKS that it makes.
        case: what is assumed where the file leaves it open: for instance `UseEfa` and `'true'`.
        not_judged: parts that no rule can judge.
    """

    kind: FileKind
    where: Where
    region: Given[str] = None
    groups: tuple[NodeGroup, ...] = ()
    file_systems: tuple[LintedFileSystem, ...] = ()
    control_planes: tuple[ControlPlane, ...] = ()
    case: tuple[tuple[str, str], ...] = ()
    not_judged: tuple[Unknown, ...] = ()

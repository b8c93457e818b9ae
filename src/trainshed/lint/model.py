"""What a file that is not ours asks of AWS, as far as the file alone says it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from trainshed.documents.problems import Path, Where

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


# None where the file does not give it at all.
Fact = Known[T] | Unknown | None


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
    card: Fact[int]
    device: Fact[int]
    kind: Fact[str]
    public_address: Fact[bool]
    security_groups: Fact[tuple[str, ...]]


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
    """

    name: str
    path: Path
    launch: str
    instance_types: Fact[tuple[str, ...]] = None
    nodes: Fact[int] = None
    interfaces: Fact[tuple[Interface, ...]] = None
    efa: Fact[bool] = None
    placement_group: Fact[str] = None
    image: Fact[str] = None
    image_type: Fact[str] = None
    subnets: Fact[tuple[str, ...]] = None
    zones: Fact[tuple[str, ...]] = None
    purchase: Fact[str] = None


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
    deployment: Fact[str] = None
    storage_type: Fact[str] = None
    capacity_gib: Fact[int] = None
    throughput: Fact[int] = None
    version: Fact[str] = None
    efa: Fact[bool] = None
    metadata: Fact[str] = None
    security_groups: Fact[tuple[str, ...]] = None


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
        case: what is assumed where the file leaves it open: for instance `UseEfa` and `'true'`.
        not_judged: parts that no rule can judge.
    """

    kind: FileKind
    where: Where
    region: Fact[str] = None
    groups: tuple[NodeGroup, ...] = ()
    file_systems: tuple[LintedFileSystem, ...] = ()
    case: tuple[tuple[str, str], ...] = ()
    not_judged: tuple[Unknown, ...] = ()

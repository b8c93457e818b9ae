"""The parts of a document that rules judge one at a time."""

from collections.abc import Iterator

from trainshed import catalogue
from trainshed.catalogue import InstanceType
from trainshed.interfaces import InterfaceKind
from trainshed.lint.model import (
    ControlPlane,
    Interface,
    LintedFile,
    LintedFileSystem,
    NodeGroup,
    Unknown,
)
from trainshed.lint.read import NotDecided, read

EFA_KINDS = {kind.value for kind in InterfaceKind if kind.has_efa}


def node_groups(document: LintedFile) -> tuple[NodeGroup, ...]:
    """Return the groups of nodes."""
    return document.groups


def lustre_file_systems(document: LintedFile) -> tuple[LintedFileSystem, ...]:
    """Return the file systems of FSx for Lustre."""
    return document.file_systems


def control_planes(document: LintedFile) -> tuple[ControlPlane, ...]:
    """Return the control planes of EKS."""
    return document.control_planes


def groups_with_interfaces(document: LintedFile) -> Iterator[NodeGroup]:
    """Yield the groups whose interfaces the file lists, or does not decide."""
    return (group for group in document.groups if group.interfaces is not None)


def listed_interfaces(group: NodeGroup) -> tuple[Interface, ...]:
    """Return the interfaces that the file lists for a group.

    Raises:
        NotDecided: the file does not decide them.
    """
    listed = read(group.interfaces)
    return listed.value if listed else ()


def has_kind_of_efa(row: Interface) -> bool:
    """Whether an interface is one of EFA.

    Raises:
        NotDecided: the file does not decide its kind.
    """
    kind = read(row.kind)
    return kind is not None and kind.value in EFA_KINDS


def efa_interfaces(group: NodeGroup) -> tuple[Interface, ...]:
    """Return those of the listed interfaces that are of EFA.

    Raises:
        NotDecided: the file does not decide them.
    """
    return tuple(row for row in listed_interfaces(group) if has_kind_of_efa(row))


def known_types(names: tuple[str, ...]) -> Iterator[InstanceType]:
    """Yield those instance types that the catalogue has: it knows no others."""
    known = set(catalogue.all_types())
    return (catalogue.lookup(name) for name in names if name in known)


def types_of(group: NodeGroup) -> tuple[InstanceType, ...]:
    """Return the instance types of a group that the catalogue has.

    Raises:
        NotDecided: the file does not decide them, or leaves them to what uses a launch template.
    """
    names = read(group.instance_types)
    if names is None:
        why = f"the instance type of {group.name}, which is not named here"
        raise NotDecided(Unknown(why=why, path=group.path))
    return tuple(known_types(names.value))

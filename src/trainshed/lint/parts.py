"""The parts of a document that rules judge one at a time."""

from collections.abc import Iterator

from trainshed import catalogue
from trainshed.catalogue import InstanceType
from trainshed.lint.model import Document, LustreFileSystem, NodeGroup


def node_groups(document: Document) -> tuple[NodeGroup, ...]:
    """Return the groups of nodes."""
    return document.groups


def lustre_file_systems(document: Document) -> tuple[LustreFileSystem, ...]:
    """Return the file systems of FSx for Lustre."""
    return document.file_systems


def known_types(names: tuple[str, ...]) -> Iterator[InstanceType]:
    """Yield the facts of those instance types that the catalogue has: it has no others' facts."""
    known = set(catalogue.all_types())
    return (catalogue.lookup(name) for name in names if name in known)

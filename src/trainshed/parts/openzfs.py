"""The OpenZFS file system of a cluster."""

from collections.abc import Iterator

from trainshed.parts.model import Charge, Fact, PartResources, PlannedPart
from trainshed.plan import OpenZfsPlan
from trainshed.prices import OPENZFS_BACKUP, OPENZFS_STORED, OPENZFS_THROUGHPUT


def openzfs_part(openzfs: OpenZfsPlan) -> PlannedPart:
    """Return an OpenZFS file system."""
    return PlannedPart(
        kind="openzfs",
        facts=tuple(_facts(openzfs)),
        charges=tuple(_charges(openzfs)),
        resources=PartResources(stack=openzfs.stack_name, types=(openzfs.resource_type,)),
    )


def _facts(openzfs: OpenZfsPlan) -> Iterator[Fact]:
    if new := openzfs.new:
        yield Fact(name="OpenZFS", value=f"{new.capacity_gib} GiB, {new.throughput} MB/s")
        yield Fact(name="OpenZFS compression", value=new.compression, minor=True)
    else:
        yield Fact(name="OpenZFS", value=f"{openzfs.existing}, existing")
    yield Fact(name="OpenZFS mount", value=openzfs.mount)
    yield Fact(name="name of the OpenZFS", value=openzfs.name, minor=True)


def _charges(openzfs: OpenZfsPlan) -> Iterator[Charge]:
    new = openzfs.new
    if new is None:
        return
    yield Charge(
        component=f"OpenZFS, {new.capacity_gib} GiB",
        item=OPENZFS_STORED,
        units=new.capacity_gib,
        least=1,
        most=1,
    )
    yield Charge(
        component=f"OpenZFS throughput, {new.throughput} MB/s",
        item=OPENZFS_THROUGHPUT,
        units=new.throughput,
        least=1,
        most=1,
    )
    yield Charge(component="backups of OpenZFS", item=OPENZFS_BACKUP)

"""The EFS file system of a cluster."""

from collections.abc import Iterator

from trainshed.parts.model import Charge, Fact, PartResources, PlannedPart
from trainshed.plan import EfsPlan
from trainshed.prices import EFS_STORED, EFS_WRITTEN


def efs_part(efs: EfsPlan) -> PlannedPart:
    """Return an EFS file system."""
    return PlannedPart(
        kind="efs",
        facts=tuple(_facts(efs)),
        charges=tuple(_charges(efs)),
        resources=PartResources(
            stack=efs.stack_name, types=(efs.resource_type, "AWS::EFS::MountTarget")
        ),
    )


def _facts(efs: EfsPlan) -> Iterator[Fact]:
    if new := efs.new:
        yield Fact(name="EFS", value="elastic throughput")
        yield Fact(name="EFS backup", value="daily" if new.backup else "none", minor=True)
        for name, days in (
            ("EFS Infrequent Access", new.infrequent_access_days),
            ("EFS Archive", new.archive_days),
        ):
            yield Fact(name=name, value=f"after {days} days" if days else "never", minor=True)
    else:
        yield Fact(name="EFS", value=f"{efs.existing}, existing")
    yield Fact(name="EFS mount", value=efs.mount)
    yield Fact(name="name of the EFS", value=efs.name, minor=True)


def _charges(efs: EfsPlan) -> Iterator[Charge]:
    new = efs.new
    if new is None:
        return
    yield Charge(component="files in EFS", item=EFS_STORED)
    yield Charge(component="writes to EFS", item=EFS_WRITTEN)

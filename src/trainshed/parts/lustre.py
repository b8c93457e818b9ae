"""The Lustre file system of a cluster, and the bucket that it is linked to."""

from collections.abc import Iterator

from trainshed.catalogue.lustre import included_metadata_iops
from trainshed.parts.model import Charge, Fact, PartResources, PlannedPart
from trainshed.plan import ClusterPlan, LustrePlan
from trainshed.prices import LUSTRE_BACKUP, LUSTRE_METADATA_IOPS, lustre_item
from trainshed.spec import DeploymentType


def lustre_part(lustre: LustrePlan) -> PlannedPart:
    """Return a Lustre file system."""
    return PlannedPart(
        kind="storage",
        facts=tuple(_facts(lustre)),
        charges=tuple(_charges(lustre)),
        resources=PartResources(stack=lustre.stack_name, types=(lustre.resource_type,)),
    )


def _facts(lustre: LustrePlan) -> Iterator[Fact]:
    if new := lustre.new:
        yield Fact(name="file system", value=f"Lustre {new.deployment}")
        yield Fact(name="storage", value=f"{new.capacity_gib} GiB")
        if new.deployment is DeploymentType.PERSISTENT_2:
            yield Fact(name="storage throughput", value=f"{new.throughput} MB/s per TiB")
            iops = f"{new.metadata_iops} IOPS" if new.metadata_iops else "automatic"
            yield Fact(name="storage metadata", value=iops, minor=True)
        yield Fact(name="storage compression", value=new.compression, minor=True)
    else:
        yield Fact(name="file system", value=f"{lustre.existing}, existing")
    yield Fact(name="storage network", value="EFA" if lustre.efa else "TCP")
    yield Fact(name="storage mount", value=lustre.mount)
    yield Fact(name="name of the storage", value=lustre.name, minor=True)


def _charges(lustre: LustrePlan) -> Iterator[Charge]:
    new = lustre.new
    if new is None:
        return
    throughput = f", {new.throughput} MB/s per TiB" if new.throughput else ""
    yield Charge(
        component=f"Lustre {new.deployment}, {new.capacity_gib} GiB{throughput}",
        item=lustre_item(new.deployment, new.throughput),
        units=new.capacity_gib,
        least=1,
        most=1,
    )
    more = (new.metadata_iops or 0) - included_metadata_iops(new.capacity_gib)
    if more > 0:
        yield Charge(
            component=f"Lustre metadata, {more} IOPS above those included",
            item=LUSTRE_METADATA_IOPS,
            units=more,
            least=1,
            most=1,
        )
    # As LustreFileSystem has it: FSx backs up no file system that is linked to S3, and no scratch.
    if new.deployment is DeploymentType.PERSISTENT_2 and not new.s3:
        yield Charge(component="backups of Lustre", item=LUSTRE_BACKUP)


def bucket_part(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield the bucket that the file system is linked to, if there is one."""
    if plan.lustre and (new := plan.lustre.new) and (link := new.s3):
        yield PlannedPart(
            kind="bucket",
            facts=(Fact(name="linked bucket", value=f"s3://{link.bucket}/{link.prefix}"),),
            resources=PartResources(
                stack=plan.lustre.stack_name, types=("AWS::FSx::DataRepositoryAssociation",)
            ),
        )

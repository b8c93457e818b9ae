"""The storage of a cluster."""

from collections.abc import Iterator

from trainshed.parts.model import Behind, Fact, PlannedPart
from trainshed.plan import ClusterPlan, LustrePlan
from trainshed.spec import DeploymentType


def storage_part(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield the file system, if the cluster has one."""
    if plan.lustre:
        yield PlannedPart(
            kind="storage",
            facts=tuple(_facts(plan.lustre)),
            behind=Behind(stack=plan.lustre.stack_name, types=("AWS::FSx::FileSystem",)),
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


def bucket_part(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield the bucket that the file system is linked to, if there is one."""
    if plan.lustre and (new := plan.lustre.new) and (link := new.s3):
        yield PlannedPart(
            kind="bucket",
            facts=(Fact(name="linked bucket", value=f"s3://{link.bucket}/{link.prefix}"),),
            behind=Behind(
                stack=plan.lustre.stack_name, types=("AWS::FSx::DataRepositoryAssociation",)
            ),
        )

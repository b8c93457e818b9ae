"""The storage of a cluster."""

from collections.abc import Iterator

from trainshed.plan import ClusterPlan, LustrePlan
from trainshed.review.parts import Behind, Fact, PlannedPart
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
    spec = lustre.spec
    if spec.existing:
        yield Fact(name="file system", value=f"{spec.existing}, existing")
    else:
        yield Fact(name="file system", value=f"Lustre {spec.deployment}")
        yield Fact(name="storage", value=f"{spec.capacity_gib} GiB")
        if spec.deployment is DeploymentType.PERSISTENT_2:
            yield Fact(name="storage throughput", value=f"{spec.throughput} MB/s per TiB")
            iops = f"{spec.metadata_iops} IOPS" if spec.metadata_iops else "automatic"
            yield Fact(name="storage metadata", value=iops, minor=True)
        yield Fact(name="storage compression", value=spec.compression, minor=True)
    yield Fact(name="storage network", value="EFA" if spec.efa else "TCP")
    yield Fact(name="storage mount", value=spec.mount)
    yield Fact(name="name of the storage", value=lustre.name, minor=True)


def bucket_part(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield the bucket that the file system is linked to, if there is one."""
    if plan.lustre and (link := plan.lustre.spec.s3):
        yield PlannedPart(
            kind="bucket",
            facts=(Fact(name="linked bucket", value=f"s3://{link.bucket}/{link.prefix}"),),
            behind=Behind(
                stack=plan.lustre.stack_name, types=("AWS::FSx::DataRepositoryAssociation",)
            ),
        )

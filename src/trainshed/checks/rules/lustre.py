"""Whether data outlives the nodes, and storage is fast enough for them."""

from collections.abc import Iterator

from trainshed.checks.rule import Basis, Violation, rule
from trainshed.findings import Severity
from trainshed.plan import ClusterPlan, LustrePlan
from trainshed.plan.lustre_efa import CONNECTIONS_MAX
from trainshed.plan.storage import EFA_STEP_GIB, SCRATCH_THROUGHPUT
from trainshed.spec import BucketAccess, DeploymentType

_LUSTRE = ("storage", "lustre")
_PERFORMANCE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html"
_SSD = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html"
# FSx for Lustre user guide, "Throughput to individual client instances": over ENA.
_CLIENT_GBPS = 100
_SLOW_CHECKPOINT_MINUTES = 30
_SMALLEST_GIB, _MANY_NODES = 1200, 16


def _new(plan: ClusterPlan) -> LustrePlan | None:
    """Return the file system that the cluster makes; what an existing one is, nobody knows here."""
    return plan.lustre if plan.lustre and not plan.lustre.spec.existing else None


def _throughput(lustre: LustrePlan) -> int:
    """Return what FSx lets clients write all the time, in MB/s."""
    spec = lustre.spec
    return spec.capacity_gib * (spec.throughput or SCRATCH_THROUGHPUT) // 1024


@rule(
    "TS-LUS-001",
    title="Checkpoints are on servers that are not replicated",
    why="""
A scratch file system keeps each piece of data once: when one of its servers fails, what was there
is gone. AWS means it for temporary data and for processing that is over soon; it cannot be backed
up.
""",
    sources=("https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html",),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge}
storage: {lustre: {deployment: scratch-2}}
""",
)
def scratch_without_copy(plan: ClusterPlan) -> Iterator[Violation]:
    """What a training wrote should be somewhere else, too."""
    lustre = _new(plan)
    if lustre and lustre.spec.deployment is DeploymentType.SCRATCH_2 and not lustre.spec.s3:
        yield Violation(
            path=(*_LUSTRE, "deployment"),
            message="scratch-2 loses data with a server, and no S3 bucket has a copy of what jobs "
            f"write in up to {plan.spec.job.timeout_hours} hours",
            remedy="use persistent-2, link a bucket by storage.lustre.s3, or have jobs copy their "
            "checkpoints to S3",
        )


@rule(
    "TS-LUS-002",
    title="A full checkpoint takes more than half an hour",
    severity=Severity.INFO,
    why="""
A checkpoint is at most as large as the memory of all accelerators, and it is written at the
throughput of the file system: its storage in TiB times `throughput`. While it is written, the
accelerators usually wait. Most checkpoints are smaller, so measure yours: this is the arithmetic of
the largest.
""",
    basis=Basis.INFERRED,
    sources=(_SSD, _PERFORMANCE),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 16}}
storage: {lustre: {}}
""",
)
def slow_checkpoint(plan: ClusterPlan) -> Iterator[Violation]:
    """The file system should take a checkpoint in reasonable time."""
    lustre = _new(plan)
    if not lustre:
        return
    accelerator, nodes = plan.instance.accelerator, plan.spec.instance.nodes.max
    accelerators = nodes * accelerator.count
    memory_mb = accelerators * accelerator.memory_mib * 1.048576
    throughput = _throughput(lustre)
    minutes = memory_mb / throughput / 60
    if minutes > _SLOW_CHECKPOINT_MINUTES:
        yield Violation(
            path=(*_LUSTRE, "throughput" if lustre.spec.throughput else "capacity_gib"),
            message=f"{throughput} MB/s are {throughput / accelerators:.1f} MB/s for each of "
            f"{accelerators} accelerators: a checkpoint as large as their {memory_mb / 1000:,.0f} "
            f"GB of memory takes {minutes:.0f} minutes",
            remedy="give more throughput or storage, write checkpoints in the background, or "
            "accept this if yours are smaller",
        )


@rule(
    "TS-LUS-003",
    title="The nodes cannot use the throughput that is paid for",
    severity=Severity.INFO,
    why="""
Without EFA, FSx gives one client 100 Gbps at most, and no node gets more than its own network
carries. All nodes together then stay below the throughput of the file system.
""",
    sources=(_PERFORMANCE,),
    example="""
name: Example
region: us-west-2
instance: {type: p5.48xlarge}
storage: {lustre: {capacity_gib: 24000, throughput: 1000}}
""",
)
def throughput_beyond_nodes(plan: ClusterPlan) -> Iterator[Violation]:
    """Throughput that no client can reach is paid for nothing."""
    lustre = _new(plan)
    if not lustre or lustre.spec.efa:
        return
    nodes = plan.spec.instance.nodes.max
    gbps = min(_CLIENT_GBPS, plan.instance.network_gbps)
    reach, throughput = int(nodes * gbps * 1000 / 8), _throughput(lustre)
    if reach < throughput:
        yield Violation(
            path=(*_LUSTRE, "throughput" if lustre.spec.throughput else "capacity_gib"),
            message=f"the file system gives {throughput} MB/s, and {nodes} nodes of "
            f"{plan.instance.name} take {reach} MB/s over TCP ({gbps:g} Gbps each)",
            remedy="give less throughput, or set efa to true where the type is a client of that",
        )


@rule(
    "TS-LUS-004",
    title="The file system could be reached over EFA",
    severity=Severity.INFO,
    why="""
Nodes of this type are clients of EFA-enabled file systems: up to 700 Gbps for each, instead of 100.
The storage asked for has a size that they take. Whether a file system is EFA-enabled is fixed when
it is made.
""",
    sources=(
        "https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html",
        _PERFORMANCE,
    ),
    example="""
name: Example
region: us-west-2
instance: {type: p5.48xlarge}
storage: {lustre: {capacity_gib: 4800, throughput: 1000}}
""",
)
def unused_efa(plan: ClusterPlan) -> Iterator[Violation]:
    """A faster way to the same file system should be known."""
    lustre = _new(plan)
    if not lustre or lustre.spec.efa or not plan.instance.lustre_efa_client:
        return
    step = EFA_STEP_GIB.get(lustre.spec.throughput or 0)
    if step and lustre.spec.capacity_gib % step == 0:
        yield Violation(
            path=(*_LUSTRE, "efa"),
            message=f"{plan.instance.name} reaches a file system of {lustre.spec.capacity_gib} GiB "
            f"at {lustre.spec.throughput} MB/s per TiB over EFA, too, and this one will not be "
            "EFA-enabled",
            remedy="set efa to true before the first deployment, if one node needs more than 100 "
            "Gbps or the nodes' CPUs are busy",
        )


@rule(
    "TS-LUS-005",
    title="Many nodes share the smallest file system",
    severity=Severity.INFO,
    why="""
1200 GiB are what FSx begins with: the least throughput, and without `metadata_iops` the fewest
metadata operations, since FSx scales both with the storage. When a job starts, every process of
every node opens its program's files at the same time.
""",
    sources=(
        _SSD,
        "https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html",
    ),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 16}}
storage: {lustre: {capacity_gib: 1200}}
""",
)
def small_for_many_nodes(plan: ClusterPlan) -> Iterator[Violation]:
    """A large cluster needs more than the smallest file system."""
    lustre, nodes = _new(plan), plan.spec.instance.nodes.max
    if not lustre or nodes < _MANY_NODES or lustre.spec.metadata_iops:
        return
    if lustre.spec.capacity_gib == _SMALLEST_GIB:
        processes = nodes * plan.instance.accelerator.ranks
        yield Violation(
            path=(*_LUSTRE, "capacity_gib"),
            message=f"{nodes} nodes with {processes} processes share {_SMALLEST_GIB} GiB: "
            f"{_throughput(lustre)} MB/s, and FSx's fewest metadata operations",
            remedy="give more storage, or metadata_iops (persistent-2), and keep programs in the "
            "image",
        )


@rule(
    "TS-LUS-006",
    title="A file system that is linked to S3 has no backups",
    severity=Severity.INFO,
    why="""
FSx makes no backups of a file system with a link to S3: the bucket has the copy. New and changed
files are exported there, objects that change or disappear in the bucket do so here, and a file that
was overwritten is overwritten in the bucket, too.
""",
    sources=("https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html",),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge}
storage: {lustre: {s3: {bucket: my-datasets}}}
""",
)
def linked_without_backups(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever links a bucket should know that it is the only copy."""
    lustre = _new(plan)
    if lustre and lustre.spec.s3:
        yield Violation(
            path=(*_LUSTRE, "s3"),
            message=f"FSx makes no backups, and what is deleted in {lustre.spec.s3.bucket} "
            "disappears here",
            remedy="turn on versioning of the bucket",
        )


@rule(
    "TS-LUS-007",
    title="Nodes use fewer EFA interfaces for the file system than they could",
    severity=Severity.INFO,
    why="""
An EFA-enabled file system takes 1,024 connections, and each EFA interface of each node is one. A
large cluster therefore uses fewer interfaces on each node, and a node gets less throughput.
""",
    sources=("https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html",),
    example="""
name: Example
region: us-west-2
instance: {type: p5.48xlarge, nodes: {max: 200}}
storage: {lustre: {capacity_gib: 4800, throughput: 1000, efa: true}}
""",
)
def fewer_connections(plan: ClusterPlan) -> Iterator[Violation]:
    """Somebody should know when the limit of connections slows nodes down."""
    lustre, nodes = plan.lustre, plan.spec.instance.nodes.max
    if not lustre or not lustre.spec.efa:
        return
    present = sum(row.kind.has_efa for row in plan.interfaces)
    usual = min(plan.instance.lustre_efa_interfaces, present)
    if plan.lustre_efa_interfaces < usual:
        yield Violation(
            path=(*_LUSTRE, "efa"),
            message=f"each of {nodes} nodes uses {plan.lustre_efa_interfaces} EFA interfaces for "
            f"the file system, not {usual}: it takes {CONNECTIONS_MAX} connections",
            remedy="spread the nodes over several file systems if storage is what they wait for",
        )


@rule(
    "TS-LUS-008",
    title="What jobs write is lost with their nodes",
    severity=Severity.INFO,
    why="""
A job that is tried again gets other nodes, with empty disks. Without shared storage, or a bucket
that it may write to, it finds no checkpoint there and begins anew.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html",),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 4}}
""",
)
def nothing_outlives_nodes(plan: ClusterPlan) -> Iterator[Violation]:
    """Checkpoints should outlive the nodes."""
    job, nodes = plan.spec.job, plan.spec.instance.nodes.max
    writes = any(grant.access is not BucketAccess.READ for grant in job.buckets)
    if nodes > 1 and not plan.lustre and not writes and not job.policies:
        yield Violation(
            path=("storage",),
            message=f"{nodes} nodes have no file system, and jobs may write to no bucket: a "
            "checkpoint is lost with its node",
            remedy="give storage.lustre, or a bucket with access: read-write in job.buckets",
        )

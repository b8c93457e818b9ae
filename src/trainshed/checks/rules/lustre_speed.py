"""Whether storage is fast enough for the nodes."""

from collections.abc import Iterator

from trainshed.catalogue.lustre import CLIENT_GBPS, SSD_SIZES, efa_sizes
from trainshed.checks import clusters
from trainshed.checks.file_system import new_file_system, sustained_throughput
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import ClusterPlan
from trainshed.plan.storage.lustre_efa import CONNECTIONS_MAX

_LUSTRE = ("storage", "lustre")
_PERFORMANCE = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html"
_SSD = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html"
_SLOW_CHECKPOINT_MINUTES = 30
_SMALLEST_GIB, _MANY_NODES = SSD_SIZES.first[0], 16


@rule(
    "TS-LUS-002",
    over=clusters,
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
instance: {type: trn1.32xlarge, nodes: {max: 16}}
storage: {lustre: {}}
""",
)
def slow_checkpoint(plan: ClusterPlan) -> Iterator[Violation]:
    """The file system should take a checkpoint in reasonable time."""
    lustre = new_file_system(plan)
    # With `training` it is known how large a checkpoint is: TS-LUS-015.
    if not lustre or plan.training:
        return
    accelerator, nodes = plan.instance.accelerator, plan.nodes.max
    accelerators = nodes * accelerator.count
    memory_mb = accelerators * accelerator.memory_mib * 1.048576
    throughput = sustained_throughput(lustre)
    minutes = memory_mb / throughput / 60
    if minutes > _SLOW_CHECKPOINT_MINUTES:
        yield Violation(
            path=(*_LUSTRE, "throughput" if lustre.throughput else "capacity_gib"),
            message=f"{throughput} MB/s are {throughput / accelerators:.1f} MB/s for each of "
            f"{accelerators} accelerators: a checkpoint as large as their {memory_mb / 1000:,.0f} "
            f"GB of memory takes {minutes:.0f} minutes",
            remedy="say in training how large yours are; or give more throughput or storage, or "
            "write checkpoints in the background",
        )


@rule(
    "TS-LUS-003",
    over=clusters,
    title="The nodes cannot use the throughput that is paid for",
    severity=Severity.INFO,
    why="""
Without EFA, FSx gives one client 100 Gbps at most, and no node gets more than its own network
carries. All nodes together then stay below the throughput of the file system.
""",
    sources=(_PERFORMANCE,),
    example="""
instance: {type: p5.48xlarge}
storage: {lustre: {capacity_gib: 24000, throughput: 1000}}
""",
)
def throughput_beyond_nodes(plan: ClusterPlan) -> Iterator[Violation]:
    """Throughput that no client can reach is paid for nothing."""
    lustre = new_file_system(plan)
    if not lustre or lustre.efa:
        return
    nodes = plan.nodes.max
    gbps = min(CLIENT_GBPS, plan.instance.network_gbps)
    reach, throughput = int(nodes * gbps * 1000 / 8), sustained_throughput(lustre)
    if reach < throughput:
        yield Violation(
            path=(*_LUSTRE, "throughput" if lustre.throughput else "capacity_gib"),
            message=f"the file system gives {throughput} MB/s, and {nodes} nodes of "
            f"{plan.instance.name} take {reach} MB/s over TCP ({gbps:g} Gbps each)",
            remedy="give less throughput, or set efa to true where the type is a client of that",
        )


@rule(
    "TS-LUS-004",
    over=clusters,
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
instance: {type: p5.48xlarge}
storage: {lustre: {capacity_gib: 4800, throughput: 1000}}
""",
)
def unused_efa(plan: ClusterPlan) -> Iterator[Violation]:
    """A faster way to the same file system should be known."""
    lustre = new_file_system(plan)
    if not lustre or lustre.efa or not plan.instance.lustre_efa_client:
        return
    sizes = efa_sizes(lustre.throughput)
    if sizes and sizes.has(lustre.capacity_gib):
        yield Violation(
            path=(*_LUSTRE, "efa"),
            message=f"{plan.instance.name} reaches a file system of {lustre.capacity_gib} GiB "
            f"at {lustre.throughput} MB/s per TiB over EFA, too, and this one will not be "
            "EFA-enabled",
            remedy="set efa to true before the first deployment, if one node needs more than 100 "
            "Gbps or the nodes' CPUs are busy",
        )


@rule(
    "TS-LUS-005",
    over=clusters,
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
instance: {type: trn1.32xlarge, nodes: {max: 16}}
storage: {lustre: {capacity_gib: 1200}}
""",
)
def small_for_many_nodes(plan: ClusterPlan) -> Iterator[Violation]:
    """A large cluster needs more than the smallest file system."""
    lustre, nodes = new_file_system(plan), plan.nodes.max
    if not lustre or nodes < _MANY_NODES or lustre.metadata_iops:
        return
    if lustre.capacity_gib == _SMALLEST_GIB:
        processes = nodes * plan.instance.accelerator.ranks
        yield Violation(
            path=(*_LUSTRE, "capacity_gib"),
            message=f"{nodes} nodes with {processes} processes share {_SMALLEST_GIB} GiB: "
            f"{sustained_throughput(lustre)} MB/s, and FSx's fewest metadata operations",
            remedy="give more storage, or metadata_iops (persistent-2), and keep programs in the "
            "image",
        )


@rule(
    "TS-LUS-007",
    over=clusters,
    title="Nodes use fewer EFA interfaces for the file system than they could",
    severity=Severity.INFO,
    why="""
An EFA-enabled file system takes 1,024 connections, and each EFA interface of each node is one. A
large cluster therefore uses fewer interfaces on each node, and a node gets less throughput.
""",
    sources=("https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html",),
    example="""
instance: {type: p5.48xlarge, nodes: {max: 200}}
storage: {lustre: {capacity_gib: 4800, throughput: 1000, efa: true}}
""",
)
def fewer_connections(plan: ClusterPlan) -> Iterator[Violation]:
    """Somebody should know when the limit of connections slows nodes down."""
    lustre, nodes = plan.lustre, plan.nodes.max
    if not lustre or not lustre.efa:
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

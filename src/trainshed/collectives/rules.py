"""What may be wrong with a run of a collective benchmark, by its own log."""

from collections.abc import Iterator, Sequence
from statistics import median

from trainshed.collectives.judge import (
    BY_BUS,
    LARGE,
    TOLERANCE,
    Benchmark,
    Cluster,
    benchmarks,
    comparable,
    comparisons,
    network_use,
    subject,
)
from trainshed.collectives.model import BenchmarkRun, Tool
from trainshed.collectives.network import SOCKET
from trainshed.findings import Severity, Violation, rule

_EFA = "efa"


@rule(
    "TS-COL-001",
    over=benchmarks,
    title="A benchmark's results are wrong",
    severity=Severity.ERROR,
    why="""
nccl-tests counts wrong values, and hccl_demo says `which is bad`. A training on such nodes computes
wrong gradients.
""",
    remedy="Do not train on these nodes; run the benchmark on single nodes to find the one",
)
def wrong_results(benchmark: Benchmark) -> Iterator[Violation]:
    """What a collective returns must be right."""
    if benchmark.run.wrong:
        yield Violation(
            message=f"results are wrong: {benchmark.run.wrong}",
            remedy="do not train on these nodes; find the one with wrong results by runs on single "
            "nodes",
        )


@rule(
    "TS-COL-002",
    over=benchmarks,
    title="A collective benchmark failed",
    severity=Severity.ERROR,
    why="The log has the line of an error, which the finding quotes.",
    remedy="Read the lines around it",
)
def failed(benchmark: Benchmark) -> Iterator[Violation]:
    """A benchmark should end without an error."""
    for line in benchmark.run.failures[:1]:
        yield Violation(
            message=f"the benchmark failed: {line}",
            remedy="what was measured before is shown; read the lines around it",
        )


@rule(
    "TS-COL-003",
    over=benchmarks,
    title="The log of a benchmark ends in the middle",
    why="The largest messages come last, and they tell most about the network.",
    remedy="Get the whole log, for the largest sizes",
)
def truncated(benchmark: Benchmark) -> Iterator[Violation]:
    """A log should be whole."""
    if benchmark.run.truncated:
        yield Violation(
            message=f"the log ends in the middle: {benchmark.run.truncated}",
            remedy="what was measured before is shown; get the whole log for the largest sizes",
        )


@rule(
    "TS-COL-004",
    over=benchmarks,
    title="Traffic between nodes does not run over EFA",
    severity=Severity.ERROR,
    why="""
NCCL's lines of `NET/OFI` and `NET/Socket`, or `HCCL_OVER_TCP`, say that it runs over TCP or another
provider of libfabric. Collectives then reach a small part of the bandwidth.
""",
    remedy="Give the container every `/dev/infiniband/uverbs` device, libfabric and the plugin of "
    "the collective library",
)
def not_over_efa(benchmark: Benchmark) -> Iterator[Violation]:
    """Nodes with EFA should talk over it."""
    run, network = benchmark.run, benchmark.run.network
    if not _has_efa(benchmark.cluster):
        return
    for provider, line in network.providers.items():
        if provider != _EFA:
            how = "TCP" if provider == SOCKET else f"libfabric's {provider}"
            yield _runs_over(how, str(line))
    if network.settings.get("HCCL_OVER_TCP") == "1":
        yield _runs_over("TCP", "HCCL_OVER_TCP=1 is set")
    if not network.providers and run.tool is Tool.NCCL_TESTS and network.logged:
        yield _runs_over("TCP", "NCCL's log names no libfabric provider")


def _has_efa(cluster: Cluster) -> bool:
    return cluster.nodes > 1 and bool(cluster.instance.efa_interfaces_max)


def _runs_over(how: str, evidence: str) -> Violation:
    return Violation(
        message=f"traffic between nodes runs over {how}, not over EFA: {evidence}",
        remedy="check that the container has every /dev/infiniband/uverbs device, libfabric and "
        "the plugin of the collective library, and that FI_PROVIDER is efa",
    )


@rule(
    "TS-COL-005",
    over=benchmarks,
    title="The log does not say whether EFA was used",
    why="NCCL names the network that it uses only when it is asked to log that.",
    remedy="Run it with `NCCL_DEBUG=INFO`",
)
def silent_about_efa(benchmark: Benchmark) -> Iterator[Violation]:
    """A log should tell over which network it ran."""
    run, network = benchmark.run, benchmark.run.network
    silent = not network.providers and not network.logged
    if _has_efa(benchmark.cluster) and run.tool is Tool.NCCL_TESTS and silent:
        yield Violation(
            message="the log does not say whether EFA was used",
            remedy="run it with NCCL_DEBUG=INFO",
        )


@rule(
    "TS-COL-006",
    over=benchmarks,
    title="A process found fewer EFA interfaces than the type can have",
    severity=Severity.ERROR,
    why="aws-ofi-nccl prints `(found N nics)`. What is missing takes its share of the bandwidth.",
    remedy="Give the container every `/dev/infiniband/uverbs` device, and compare the node with "
    "`trainshed explain`",
)
def missing_interfaces(benchmark: Benchmark) -> Iterator[Violation]:
    """A process should find every EFA interface of its node."""
    run, instance = benchmark.run, benchmark.cluster.instance
    expected = instance.efa_interfaces_max
    if run.network.interfaces and run.network.interfaces[0] < expected:
        found, line = run.network.interfaces
        yield Violation(
            message=f"a process found {found} EFA interfaces; {instance.name} can have "
            f"{expected}: {line}",
            remedy="pass every /dev/infiniband/uverbs device into the container, and compare the "
            "node's interfaces with trainshed explain",
        )


@rule(
    "TS-COL-007",
    over=benchmarks,
    title="Some accelerators took no part in a benchmark",
    why="A rank is one accelerator. What fewer ranks reach says little about the whole cluster.",
    remedy="Start one rank for each accelerator",
)
def missing_ranks(benchmark: Benchmark) -> Iterator[Violation]:
    """Every accelerator should take part."""
    run, cluster = benchmark.run, benchmark.cluster
    if run.ranks and run.ranks != cluster.ranks:
        yield Violation(
            message=f"{run.ranks} ranks took part; {cluster.nodes} x {cluster.instance.name} have "
            f"{cluster.ranks}",
            remedy="start one rank for each accelerator to use them all",
        )


@rule(
    "TS-COL-008",
    over=benchmarks,
    title="A benchmark is slower than published",
    severity=Severity.ERROR,
    why="It is compared with what is published for this type, number of nodes and message size.",
    remedy="Run it on each node alone, and compare them",
)
def slower_than_published(benchmark: Benchmark) -> Iterator[Violation]:
    """A run should reach what others reached."""
    compared = _compared(benchmark)
    if compared and not _without_peer_direct(benchmark):
        yield Violation(
            message=f"slower than published: {compared}",
            remedy="run it on each node alone, and compare them: trainshed bench judge with a log "
            "of each node",
        )


@rule(
    "TS-COL-009",
    over=benchmarks,
    title="Gaudi's peer-direct seems to be off",
    severity=Severity.ERROR,
    why="The bandwidth is nearer to what is published without peer-direct than to that with it.",
    remedy="Set the variable that the finding names",
)
def no_peer_direct(benchmark: Benchmark) -> Iterator[Violation]:
    """Gaudi should send from its own memory."""
    compared, without = _compared(benchmark), _without_peer_direct(benchmark)
    if compared and without:
        yield Violation(
            message=f"peer-direct seems to be off: {compared}, {without:.4g} without peer-direct",
            remedy=_peer_direct_remedy(benchmark.run),
        )


def _compared(benchmark: Benchmark) -> str | None:
    """Return what a run reaches and what is published, if that is clearly more."""
    found = comparable(benchmark.run, benchmark.cluster)
    if found is None or found[0].bus_gb_per_s >= TOLERANCE * found[1].bandwidth:
        return None
    figure, result = found
    return (
        f"{benchmark.run.operation} of {figure.size_bytes} bytes reaches "
        f"{figure.bus_gb_per_s:.4g} GB/s; published: {result.bandwidth:.4g} ({result.source})"
    )


def _without_peer_direct(benchmark: Benchmark) -> float | None:
    """Return what is published without peer-direct, if a run is nearer to that."""
    found = comparable(benchmark.run, benchmark.cluster)
    without = found[1].without_peer_direct if found else None
    if found and without and found[0].bus_gb_per_s < (without + found[1].bandwidth) / 2:
        return without
    return None


# Habana, hccl_demo README, "Gaudi Direct": both must be set.
_PEER_DIRECT = {"FI_EFA_USE_DEVICE_RDMA": "1", "RDMAV_FORK_SAFE": "1"}


def _peer_direct_remedy(run: BenchmarkRun) -> str:
    settings = run.network.settings
    # Habana, "Scale-out via Host NIC": it forces the host's memory, whatever else is set.
    if settings.get("HCCL_OVER_OFI") == "1" and settings.get("HCCL_GAUDI_DIRECT") != "1":
        return "the log shows HCCL_OVER_OFI=1 without HCCL_GAUDI_DIRECT=1; leave both out"
    off = {
        name: settings[name]
        for name, value in _PEER_DIRECT.items()
        if settings.get(name, value) != value
    }
    if off:
        shown = " and ".join(f"{name}={value}" for name, value in off.items())
        return f"the log shows {shown}; set it to 1"
    wanted = " and ".join(f"{name}={value}" for name, value in _PEER_DIRECT.items())
    return f"set {wanted} in the container, whose log shows neither set otherwise"


@rule(
    "TS-COL-010",
    over=benchmarks,
    title="A benchmark reaches more than the network of the nodes can carry",
    severity=Severity.ERROR,
    why="A bandwidth above the line rate of the instance type was not measured on these nodes.",
    remedy="The log is of another cluster: check `--type` and `--nodes`",
)
def beyond_line_rate(benchmark: Benchmark) -> Iterator[Violation]:
    """No network carries more than its line rate."""
    run, cluster = benchmark.run, benchmark.cluster
    use = network_use(run, cluster)
    if use and use.gbps > use.line_rate_gbps:
        yield Violation(
            message=f"{_need(run)} would take {use.gbps:.0f} Gbps of each node's network, more "
            f"than the {use.line_rate_gbps:g} of {cluster.instance.name}",
            remedy="the log is of other nodes, or of fewer: check instance type and node count",
        )


@rule(
    "TS-COL-011",
    over=benchmarks,
    title="A benchmark uses no more than one network card's worth",
    why="Each card carries its share of a node's bandwidth.",
    remedy="Check that traffic runs over EFA, over every interface",
)
def one_card(benchmark: Benchmark) -> Iterator[Violation]:
    """Large messages should use every card."""
    run, cluster = benchmark.run, benchmark.cluster
    use, cards = network_use(run, cluster), len(cluster.instance.efa_cards)
    if use and _tells_cards(benchmark) and use.gbps <= (share := use.line_rate_gbps / cards):
        yield Violation(
            message=f"{_need(run)} takes at least {use.gbps:.0f} Gbps of each node's network, no "
            f"more than one of its {cards} cards carries ({share:g} of {use.line_rate_gbps:g} "
            "Gbps)",
            remedy="check that traffic runs over EFA, over every interface",
        )


def _need(run: BenchmarkRun) -> str:
    return f"{run.largest.bus_gb_per_s:.4g} GB/s at {run.largest.size_bytes} bytes"


def _tells_cards(benchmark: Benchmark) -> bool:
    """Whether the bandwidth of the largest message tells one card from several."""
    several = len(benchmark.cluster.instance.efa_cards) > 1
    return several and benchmark.run.largest.size_bytes >= LARGE


@rule(
    "TS-COL-013",
    over=benchmarks,
    title="The bandwidth of a benchmark was not judged",
    why="No figure could be compared with anything that is published or possible.",
    remedy="Name the operation by `--operation`, run it with larger messages, or compare several "
    "runs",
)
def not_judged(benchmark: Benchmark) -> Iterator[Violation]:
    """Whoever reads no finding should know whether anything was compared."""
    run, cluster, compared = benchmark
    use = network_use(run, cluster)
    beyond = use is not None and use.gbps > use.line_rate_gbps
    if compared or comparable(run, cluster) or beyond or (use and _tells_cards(benchmark)):
        return
    several = "give the logs of three runs or more, which are compared with each other"
    nodes = f"{cluster.nodes} x {cluster.instance.name}"
    if run.operation is None:
        why, remedy = "the log does not name the operation", "name it by --operation"
    elif cluster.nodes > 1 and use is None:
        why = f"nothing is published of {run.operation} on {nodes}, and no bound is known"
        remedy = f"run {', '.join(sorted(BY_BUS))}; or {several}"
    elif cluster.nodes > 1 and run.largest.size_bytes < LARGE:
        why = f"below {LARGE} bytes latency decides, and the largest message is smaller"
        remedy = "run it with larger messages"
    else:
        why = f"nothing is published of {subject(run)} on {nodes}"
        remedy = several
    yield Violation(message=f"the bandwidth was not judged: {why}", remedy=remedy)


@rule(
    "TS-COL-012",
    over=comparisons,
    title="One node is slower than the median of several",
    severity=Severity.ERROR,
    why="Runs of the same nodes vary by a few percent. A collective is as fast as its slowest "
    "node.",
    remedy="Run its self-test, and replace it if it stays slow",
)
def slow_node(runs: Sequence[BenchmarkRun]) -> Iterator[Violation]:
    """Nodes of one type should be equally fast."""
    usual = median(run.largest.bus_gb_per_s for run in runs)
    for run in runs:
        if run.largest.bus_gb_per_s < TOLERANCE * usual:
            on = f" ({', '.join(run.hosts)})" if run.hosts else ""
            yield Violation(
                message=f"{run.source}{on} reaches {run.largest.bus_gb_per_s:.4g} GB/s, the "
                f"median of {len(runs)} runs is {usual:.4g}: a slow node",
                remedy="run the node's self-test, and replace the node if it stays slow",
            )

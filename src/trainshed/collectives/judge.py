"""Judge a run by what is published or possible for its instance type.

Every judgment rests on figures and lines of the log; where the log is silent, it says so.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from trainshed.catalogue import InstanceType
from trainshed.collectives.model import BenchmarkRun, Measurement, Operation, Tool
from trainshed.collectives.network import SOCKET
from trainshed.collectives.published import PublishedResult, published_results
from trainshed.errors import TrainshedError
from trainshed.findings import Finding, Severity

# Runs of the same nodes vary by some percent.
_TOLERANCE = 0.9
# Below that latency decides, not bandwidth.
_LARGE = 32 * 1024**2
# Each moves (ranks - 1) / ranks of the message over every rank's links, times a constant that the
# bus bandwidth takes out: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
_BY_BUS = frozenset({Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER})
_EFA = "efa"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What ran the benchmark.

    Attributes:
        instance: the type of every node.
        nodes: how many.
    """

    instance: InstanceType
    nodes: int

    @property
    def ranks(self) -> int:
        """One for each accelerator, or for each logical NeuronCore."""
        return self.nodes * self.instance.accelerator.ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkUse:
    """What the best figure of the largest message means for the network of one node.

    A node must receive what the others hold, (nodes - 1) / nodes of the message, while the bus
    bandwidth counts (ranks - 1) / ranks of it. Algorithms may send more: it is a lower bound.

    Attributes:
        gbps: what at least crossed each node's network in each direction, in Gbps.
        line_rate_gbps: what AWS states for the instance.
        bus_gb_per_s_at_line_rate: the bus bandwidth that would fill the network, in GB/s.
    """

    gbps: float
    line_rate_gbps: float
    bus_gb_per_s_at_line_rate: float


def network_use(run: BenchmarkRun, cluster: Cluster) -> NetworkUse | None:
    """Return what the largest message needed of each node's network.

    None for one node, and for operations of which no such bound holds.
    """
    line_rate = cluster.instance.network_gbps
    if cluster.nodes == 1 or run.operation not in _BY_BUS:
        return None
    between_nodes = (1 - 1 / cluster.nodes) / (1 - 1 / (run.ranks or cluster.ranks))
    return NetworkUse(
        gbps=run.largest.bus_gb_per_s * 8 * between_nodes,
        line_rate_gbps=line_rate,
        bus_gb_per_s_at_line_rate=line_rate / 8 / between_nodes,
    )


def comparable(run: BenchmarkRun, cluster: Cluster) -> tuple[Measurement, PublishedResult] | None:
    """Return the figure of a run that a published result can be compared with, and the result."""
    for result in published_results():
        same = (result.instance_type, result.nodes) == (cluster.instance.name, cluster.nodes)
        if same and result.operation is run.operation and run.ranks in (None, result.ranks):
            figures = [
                figure for figure in run.measurements if figure.size_bytes == result.size_bytes
            ]
            if figures:
                return max(figures, key=lambda figure: figure.bus_gb_per_s), result
    return None


def judge(run: BenchmarkRun, cluster: Cluster, *, compared: bool = False) -> list[Finding]:
    """Return what is wrong with a run, the worst first; nothing when it is as it should be.

    Args:
        run: of the nodes of `cluster`.
        cluster: what it ran on.
        compared: with other runs, by `slow_nodes`, so that one by itself need not be judged.

    Raises:
        TrainshedError: the log says that it ran on other nodes.
    """
    _require_agreement(run, cluster)
    found = [finding for rule in _RULES for finding in rule(run, cluster)]
    if not compared:
        found += _not_judged(run, cluster)
    return sorted(found, key=lambda finding: finding.severity is not Severity.ERROR)


def slow_nodes(runs: Sequence[BenchmarkRun]) -> list[Finding]:
    """Return the runs that are slower than the others: the same benchmark on each node.

    Args:
        runs: at least three, each of its own node or nodes.

    Raises:
        TrainshedError: they are of different operations or message sizes.
    """
    first = runs[0]
    for run in runs[1:]:
        if (run.operation, run.largest.size_bytes) != (first.operation, first.largest.size_bytes):
            raise TrainshedError(
                f"{first.source} and {run.source} cannot be compared: {_subject(first)} and "
                f"{_subject(run)}; give runs of the same benchmark"
            )
    usual = median(run.largest.bus_gb_per_s for run in runs)
    return [
        Finding(
            rule="TS-COL-012",
            severity=Severity.ERROR,
            message=f"{run.source}{_on(run)} reaches {run.largest.bus_gb_per_s:.4g} GB/s, the "
            f"median of {len(runs)} runs is {usual:.4g}: a slow node",
            remedy="run the node's self-test, and replace the node if it stays slow",
        )
        for run in runs
        if run.largest.bus_gb_per_s < _TOLERANCE * usual
    ]


def _require_agreement(run: BenchmarkRun, cluster: Cluster) -> None:
    if run.hosts and len(run.hosts) != cluster.nodes:
        raise TrainshedError(
            f"{run.source} lists {len(run.hosts)} hosts ({', '.join(run.hosts[:4])}"
            f"{', ...' if len(run.hosts) > 4 else ''}), not {cluster.nodes}; give the number of "
            "nodes that ran it"
        )


def _wrong(run: BenchmarkRun, _: Cluster) -> Iterator[Finding]:
    if run.wrong:
        yield Finding(
            rule="TS-COL-001",
            severity=Severity.ERROR,
            message=f"results are wrong: {run.wrong}",
            remedy="do not train on these nodes; find the one with wrong results by runs on single "
            "nodes",
        )


def _failed(run: BenchmarkRun, _: Cluster) -> Iterator[Finding]:
    for line in run.failures[:1]:
        yield Finding(
            rule="TS-COL-002",
            severity=Severity.ERROR,
            message=f"the benchmark failed: {line}",
            remedy="what was measured before is shown; read the lines around it",
        )
    if run.truncated:
        yield Finding(
            rule="TS-COL-003",
            severity=Severity.WARNING,
            message=f"the log ends in the middle: {run.truncated}",
            remedy="what was measured before is shown; get the whole log for the largest sizes",
        )


def _tcp(run: BenchmarkRun, cluster: Cluster) -> Iterator[Finding]:
    if cluster.nodes == 1 or not cluster.instance.efa_interfaces_max:
        return
    network = run.network
    for provider, line in network.providers.items():
        if provider != _EFA:
            how = "TCP" if provider == SOCKET else f"libfabric's {provider}"
            yield _runs_over(how, str(line))
    if network.settings.get("HCCL_OVER_TCP") == "1":
        yield _runs_over("TCP", "HCCL_OVER_TCP=1 is set")
    if not network.providers and run.tool is Tool.NCCL_TESTS:
        if network.logged:
            yield _runs_over("TCP", "NCCL's log names no libfabric provider")
        else:
            yield Finding(
                rule="TS-COL-005",
                severity=Severity.WARNING,
                message="the log does not say whether EFA was used",
                remedy="run it with NCCL_DEBUG=INFO",
            )


def _runs_over(how: str, evidence: str) -> Finding:
    return Finding(
        rule="TS-COL-004",
        severity=Severity.ERROR,
        message=f"traffic between nodes runs over {how}, not over EFA: {evidence}",
        remedy="check that the container has every /dev/infiniband/uverbs device, libfabric and "
        "the plugin of the collective library, and that FI_PROVIDER is efa",
    )


def _interfaces(run: BenchmarkRun, cluster: Cluster) -> Iterator[Finding]:
    expected = cluster.instance.efa_interfaces_max
    if run.network.interfaces and run.network.interfaces[0] < expected:
        found, line = run.network.interfaces
        yield Finding(
            rule="TS-COL-006",
            severity=Severity.ERROR,
            message=f"a process found {found} EFA interfaces; {cluster.instance.name} can have "
            f"{expected}: {line}",
            remedy="pass every /dev/infiniband/uverbs device into the container, and compare the "
            "node's interfaces with trainshed explain",
        )


def _ranks(run: BenchmarkRun, cluster: Cluster) -> Iterator[Finding]:
    if run.ranks and run.ranks != cluster.ranks:
        yield Finding(
            rule="TS-COL-007",
            severity=Severity.WARNING,
            message=f"{run.ranks} ranks took part; {cluster.nodes} x {cluster.instance.name} have "
            f"{cluster.ranks}",
            remedy="start one rank for each accelerator to use them all",
        )


def _published(run: BenchmarkRun, cluster: Cluster) -> Iterator[Finding]:
    found = comparable(run, cluster)
    if found is None:
        return
    figure, result = found
    reached = figure.bus_gb_per_s
    if reached >= _TOLERANCE * result.bandwidth:
        return
    compared = (
        f"{run.operation} of {figure.size_bytes} bytes reaches {reached:.4g} GB/s; published are "
        f"{result.bandwidth:.4g} ({result.source})"
    )
    without = result.without_peer_direct
    if without and reached < (without + result.bandwidth) / 2:
        yield Finding(
            rule="TS-COL-009",
            severity=Severity.ERROR,
            message=f"peer-direct seems to be off: {compared}, {without:.4g} without peer-direct",
            remedy=_peer_direct_remedy(run),
        )
    else:
        yield Finding(
            rule="TS-COL-008",
            severity=Severity.ERROR,
            message=f"slower than published: {compared}",
            remedy="run it on each node alone, and compare them: trainshed bench judge with a log "
            "of each node",
        )


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


def _line_rate(run: BenchmarkRun, cluster: Cluster) -> Iterator[Finding]:
    use = network_use(run, cluster)
    if use is None:
        return
    need = f"{run.largest.bus_gb_per_s:.4g} GB/s at {run.largest.size_bytes} bytes"
    if use.gbps > use.line_rate_gbps:
        yield Finding(
            rule="TS-COL-010",
            severity=Severity.ERROR,
            message=f"{need} would take {use.gbps:.0f} Gbps of each node's network, more than the "
            f"{use.line_rate_gbps:g} of {cluster.instance.name}",
            remedy="the log is of other nodes, or of fewer: check instance type and node count",
        )
        return
    cards = len(cluster.instance.efa_cards)
    if _tells_cards(run, cluster) and use.gbps <= (one_card := use.line_rate_gbps / cards):
        yield Finding(
            rule="TS-COL-011",
            severity=Severity.WARNING,
            message=f"{need} takes at least {use.gbps:.0f} Gbps of each node's network, no more "
            f"than one of its {cards} cards carries ({one_card:g} of {use.line_rate_gbps:g} Gbps)",
            remedy="check that traffic runs over EFA, over every interface",
        )


def _tells_cards(run: BenchmarkRun, cluster: Cluster) -> bool:
    """Whether the bandwidth of the largest message tells one card from several."""
    return len(cluster.instance.efa_cards) > 1 and run.largest.size_bytes >= _LARGE


def _not_judged(run: BenchmarkRun, cluster: Cluster) -> Iterator[Finding]:
    """Say that no figure of a run was held against anything."""
    use = network_use(run, cluster)
    beyond = use is not None and use.gbps > use.line_rate_gbps
    if comparable(run, cluster) or beyond or (use and _tells_cards(run, cluster)):
        return
    several = "give the logs of three runs or more, which are compared with each other"
    nodes = f"{cluster.nodes} x {cluster.instance.name}"
    if run.operation is None:
        why, remedy = "the log does not name the operation", "name it by --operation"
    elif cluster.nodes > 1 and use is None:
        why = f"nothing is published of {run.operation} on {nodes}, and no bound is known"
        remedy = f"run {', '.join(sorted(_BY_BUS))}; or {several}"
    elif cluster.nodes > 1 and run.largest.size_bytes < _LARGE:
        why = f"below {_LARGE} bytes latency decides, and the largest message is smaller"
        remedy = "run it with larger messages"
    else:
        why = f"nothing is published of {_subject(run)} on {nodes}"
        remedy = several
    yield Finding(
        rule="TS-COL-013",
        severity=Severity.WARNING,
        message=f"the bandwidth was not judged: {why}",
        remedy=remedy,
    )


def _subject(run: BenchmarkRun) -> str:
    return f"{run.operation or 'an operation that is not named'} of {run.largest.size_bytes} bytes"


def _on(run: BenchmarkRun) -> str:
    return f" ({', '.join(run.hosts)})" if run.hosts else ""


_RULES: tuple[Callable[[BenchmarkRun, Cluster], Iterator[Finding]], ...] = (
    _wrong,
    _failed,
    _tcp,
    _interfaces,
    _ranks,
    _published,
    _line_rate,
)

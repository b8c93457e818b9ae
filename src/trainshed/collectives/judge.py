"""Judge a run by what is published or possible for its instance type.

Every judgment rests on figures and lines of the log; where the log is silent, it says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trainshed.catalogue import InstanceType
from trainshed.collectives.model import BenchmarkRun, Measurement, Operation
from trainshed.collectives.published import PublishedResult, published_results
from trainshed.errors import TrainshedError
from trainshed.findings import Finding, Over, Severity
from trainshed.findings.run import found

# Runs of the same nodes vary by some percent.
TOLERANCE = 0.9
# Below that latency decides, not bandwidth.
LARGE = 32 * 1024**2
# Each moves (ranks - 1) / ranks of the message over every rank's links, times a constant that the
# bus bandwidth takes out: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
BY_BUS = frozenset({Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER})


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
    if cluster.nodes == 1 or run.operation not in BY_BUS:
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


class Benchmark(NamedTuple):
    """A run, and what it ran on.

    Attributes:
        run: of the nodes of `cluster`.
        cluster: what it ran on.
        compared: with other runs, by `slow_nodes`, so that one by itself need not be judged.
    """

    run: BenchmarkRun
    cluster: Cluster
    compared: bool = False


benchmarks: Over[Benchmark, Benchmark] = Over(
    command="bench judge", parts=lambda benchmark: (benchmark,)
)
comparisons: Over[Sequence[BenchmarkRun], Sequence[BenchmarkRun]] = Over(
    command="bench judge of several logs", parts=lambda runs: (runs,)
)


def judge(run: BenchmarkRun, cluster: Cluster, *, compared: bool = False) -> list[Finding]:
    """Return what is wrong with a run, the worst first; nothing when it is as it should be.

    The arguments are the attributes of `Benchmark`.

    Raises:
        TrainshedError: the log says that it ran on other nodes.
    """
    _require_agreement(run, cluster)
    judged = found(benchmarks.command, Benchmark(run, cluster, compared))
    return sorted(judged, key=lambda finding: finding.severity is not Severity.ERROR)


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
                f"{first.source} and {run.source} cannot be compared: {subject(first)} and "
                f"{subject(run)}; give runs of the same benchmark"
            )
    return [*found(comparisons.command, runs)]


def _require_agreement(run: BenchmarkRun, cluster: Cluster) -> None:
    if run.hosts and len(run.hosts) != cluster.nodes:
        raise TrainshedError(
            f"{run.source} lists {len(run.hosts)} hosts ({', '.join(run.hosts[:4])}"
            f"{', ...' if len(run.hosts) > 4 else ''}), not {cluster.nodes}; give the number of "
            "nodes that ran it"
        )


def subject(run: BenchmarkRun) -> str:
    """Name what a run measured."""
    return f"{run.operation or 'an operation that is not named'} of {run.largest.size_bytes} bytes"

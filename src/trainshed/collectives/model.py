"""What a collective benchmark printed, whichever tool it was."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Tool(StrEnum):
    """The benchmark that printed a log."""

    HCCL_DEMO = "hccl_demo"
    NCCOM_TEST = "nccom-test"
    NCCL_TESTS = "nccl-tests"


class Operation(StrEnum):
    """A collective operation, or point to point."""

    ALL_REDUCE = "all_reduce"
    ALL_GATHER = "all_gather"
    REDUCE_SCATTER = "reduce_scatter"
    ALL_TO_ALL = "all_to_all"
    BROADCAST = "broadcast"
    REDUCE = "reduce"
    GATHER = "gather"
    SCATTER = "scatter"
    SEND_RECV = "send_recv"
    HYPERCUBE = "hypercube"

    @classmethod
    def named(cls, name: str) -> "Operation | None":
        """Return the operation that a tool calls `name`, or None.

        Args:
            name: for instance `all_reduce_perf`, `hcclAllReduce`, `allr`.
        """
        letters = name.casefold().removeprefix("hccl").removesuffix("_perf").replace("_", "")
        return _BY_LETTERS.get(letters)


_BY_LETTERS = {operation.replace("_", ""): operation for operation in Operation} | {
    # nccom-test's short names.
    "allr": Operation.ALL_REDUCE,
    "allg": Operation.ALL_GATHER,
    "redsct": Operation.REDUCE_SCATTER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line of a log, to be quoted.

    Attributes:
        number: of the line in its file, from 1.
        text: without what mpirun, srun or `aws logs tail` wrote before it.
    """

    number: int
    text: str

    def __str__(self) -> str:
        """Return `line 7: the text`, shortened."""
        shown = self.text.strip()
        return f"line {self.number}: {shown[:_LONGEST_SHOWN]}"


_LONGEST_SHOWN = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One figure of a result table.

    Attributes:
        line: where it stands in the file, from 1.
        size_bytes: the message size as the tool counts it.
        data_type: as the tool calls it, for instance `float`.
        in_place: the result overwrites the input; False where the tool measures only one way.
        time_us: microseconds of one operation; None where the tool prints none.
        algorithm_gb_per_s: message size by time, in 10^9 bytes a second; None where not printed.
        bus_gb_per_s: what the links carry, in 10^9 bytes a second: nccl-tests' busbw, which
            hccl_demo calls NW Bandwidth.
    """

    line: int
    size_bytes: int
    data_type: str
    in_place: bool = False
    time_us: float | None
    algorithm_gb_per_s: float | None
    bus_gb_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What a log says about the network between the nodes.

    Attributes:
        providers: libfabric provider, or `socket` for TCP, with the line that names it.
        interfaces: the fewest EFA interfaces that a process found, with its line; None when no
            line says.
        settings: environment variables of HCCL and libfabric that the log shows, by name.
        logged: NCCL wrote its log lines, so that a missing provider means something.
    """

    providers: Mapping[str, LogLine]
    interfaces: tuple[int, LogLine] | None
    settings: Mapping[str, str]
    logged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a benchmark itself printed.

    Attributes:
        measurements: in the order of the log.
        operation: None when the log does not name it.
        ranks: processes that took part; None when the log does not say.
        hosts: names of the nodes, in the order of their ranks; empty when the log has none.
        wrong: a line that says that results were wrong.
        truncated: the last line of the table, when it ends in the middle.
    """

    measurements: tuple[Measurement, ...]
    operation: Operation | None = None
    ranks: int | None = None
    hosts: tuple[str, ...] = ()
    wrong: LogLine | None = None
    truncated: LogLine | None = None

    @property
    def largest(self) -> Measurement:
        """The best figure of the largest message.

        Tools also print an average over all sizes, which small messages pull down.
        """
        return max(self.measurements, key=lambda figure: (figure.size_bytes, figure.bus_gb_per_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRun(ToolOutput):
    """The log of one run of one benchmark; it has at least one measurement.

    Attributes:
        source: the file it was read from.
        tool: the benchmark.
        failures: lines that say that something failed.
        network: what it says about the network.
    """

    source: str
    tool: Tool
    failures: tuple[LogLine, ...]
    network: Network

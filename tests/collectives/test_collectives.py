"""Reading the logs of collective benchmarks, and judging them."""

from dataclasses import replace

import pytest
from benchmark_logs import (
    EFA,
    HCCL_2022,
    HCCL_REPORT,
    HCCL_REPORT_WITH_UNITS,
    NCCL_2019,
    NCCOM,
    NCCOM_TODAY,
    SOCKET,
    hccl,
    nccl,
    nccom,
)

from trainshed.catalogue import lookup
from trainshed.collectives import (
    BenchmarkRun,
    Cluster,
    Operation,
    Tool,
    UnreadableLog,
    judge,
    network_use,
    read_benchmark,
    slow_nodes,
)
from trainshed.errors import TrainshedError

MB_32 = 33554432
GB = 1073741824


def read(text: str) -> BenchmarkRun:
    return read_benchmark(text, "log")


def rules(text: str, instance_type: str, nodes: int) -> list[str]:
    cluster = Cluster(instance=lookup(instance_type), nodes=nodes)
    return [finding.rule for finding in judge(read(text), cluster)]


def messages(text: str, instance_type: str, nodes: int) -> str:
    cluster = Cluster(instance=lookup(instance_type), nodes=nodes)
    return "\n".join(map(str, judge(read(text), cluster)))


def test_nccl_tests_has_two_figures_for_each_size() -> None:
    run = read(nccl({8: 0.01, GB: 57.2}, ranks=16, hosts=2))

    assert (run.tool, run.operation, run.ranks) == (Tool.NCCL_TESTS, Operation.ALL_REDUCE, 16)
    assert run.hosts == ("node-0", "node-1")
    assert [(f.size_bytes, f.in_place, f.bus_gb_per_s) for f in run.measurements] == [
        (8, False, 0.01),
        (8, True, 0.01),
        (GB, False, 57.2),
        (GB, True, 57.2),
    ]
    assert run.largest.algorithm_gb_per_s == pytest.approx(30.51)
    assert (run.wrong, run.failures, run.truncated) == (None, (), None)


def test_old_nccl_tests_have_no_root_and_no_count_of_wrong_elements() -> None:
    run = read(NCCL_2019)

    assert [f.bus_gb_per_s for f in run.measurements] == [1.90, 3.06]
    assert (run.operation, run.ranks, run.wrong) == (None, None, None)


def test_nccom_test_prints_gib_and_calls_them_gb() -> None:
    run = read(NCCOM)

    assert (run.tool, run.operation, run.ranks) == (Tool.NCCOM_TEST, Operation.ALL_REDUCE, 64)
    # 33554432 bytes in 768 us.
    assert run.largest.algorithm_gb_per_s == pytest.approx(43.69, abs=0.01)


def test_nccom_test_of_today_names_the_statistic_of_its_times() -> None:
    run = read(NCCOM_TODAY)

    assert (run.operation, run.ranks, run.largest.size_bytes) == (Operation.ALL_REDUCE, 64, MB_32)
    assert run.largest.time_us == 2754.15
    assert run.largest.bus_gb_per_s == pytest.approx(23.99, abs=0.01)


def test_hccl_demo_prints_a_block_for_one_size() -> None:
    run = read(hccl(21.136, ranks=32))

    assert (run.tool, run.operation, run.ranks) == (Tool.HCCL_DEMO, Operation.ALL_REDUCE, 32)
    assert (run.largest.size_bytes, run.largest.bus_gb_per_s) == (MB_32, 21.136)


def test_early_hccl_demo_prints_megabytes_and_no_size() -> None:
    run = read(HCCL_2022)

    assert run.largest.size_bytes == MB_32
    assert run.largest.bus_gb_per_s == pytest.approx(69.214565)
    assert run.largest.algorithm_gb_per_s is None


def test_hccl_demo_prints_a_report_for_a_range_of_sizes() -> None:
    run = read(HCCL_REPORT)

    assert [(f.size_bytes, f.time_us) for f in run.measurements] == [
        (16777216, 1300.5),
        (MB_32, 2500.25),
    ]
    assert run.ranks == 32


def test_a_report_may_repeat_its_units_and_leave_a_column_empty() -> None:
    run = read(HCCL_REPORT_WITH_UNITS)

    assert run.operation is Operation.BROADCAST
    assert (run.largest.time_us, run.largest.bus_gb_per_s) == (2500, 13.4)


@pytest.mark.parametrize(
    "prefix",
    [
        pytest.param("[1,0]<stdout>:", id="mpirun"),
        pytest.param("[prterun-node-a-99@1,12]<stdout>: ", id="mpirun-5"),
        pytest.param(" 0: ", id="srun"),
        pytest.param("2026-11-22T10:00:00.123Z train/default/4f3a ", id="aws-logs-tail"),
    ],
)
@pytest.mark.parametrize("log", [nccl({GB: 57.2}), NCCOM, hccl(20), HCCL_REPORT])
def test_prefixes_of_launchers_change_nothing(log: str, prefix: str) -> None:
    prefixed = "\n".join(prefix + line for line in log.split("\n"))

    assert read(prefixed) == read(log)


def test_lines_of_libraries_between_the_rows_are_passed_over() -> None:
    log = nccl({MB_32: 40, GB: 57.2})
    noisy = log.replace(f"\n{GB:12d}", f"\nnode-a:1:2 [0] NCCL INFO comm 0x5\n\n{GB:12d}")

    assert noisy != log
    assert [f.bus_gb_per_s for f in read(noisy).measurements] == [40, 40, 57.2, 57.2]


def test_a_log_that_ends_in_a_row_keeps_the_rows_before() -> None:
    log = nccl({MB_32: 40, GB: 57.2})
    cut = log[: log.index(f"{GB:12d}") + 60]

    run = read(cut)

    assert run.truncated is not None
    assert str(GB) in run.truncated.text
    assert {f.size_bytes for f in run.measurements} == {MB_32}
    assert rules(cut, "p4d.24xlarge", 2) == ["TS-COL-003"]


def test_a_log_that_ends_in_a_block_keeps_the_blocks_before() -> None:
    second = hccl(20, size=2 * MB_32)

    run = read(hccl(20) + second[: second.index("NW Bandwidth")])

    assert run.truncated is not None
    assert [f.size_bytes for f in run.measurements] == [MB_32]


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("", "it is empty"),
        ("\n\nhello\n", "line 3: hello"),
        (
            "x\nnode-a: Test NCCL failure common.cu:1005 'unhandled system error'\n",
            "line 2: node-a",
        ),
        (
            nccl({MB_32: 40, GB: 57}).replace("   57.00 ", " fifty "),
            "busbw 'fifty' is not a number",
        ),
        (nccl({MB_32: 40, GB: 57}).replace("sum      -1", "sum", 1), "line 27: "),
        (HCCL_2022.replace("count=8388608, ", ""), "does not say how large the message is"),
    ],
)
def test_what_cannot_be_read_is_quoted(log: str, said: str) -> None:
    with pytest.raises(UnreadableLog, match=r"^log: ") as caught:
        read(log)

    assert said in str(caught.value)


def test_failures_in_the_middle_are_reported() -> None:
    log = nccl({GB: 57.2}) + "node-a: Test NCCL failure common.cu:1005 'unhandled system error'\n"

    assert [line.text.split()[1:4] for line in read(log).failures] == [["Test", "NCCL", "failure"]]
    assert rules(log, "p4d.24xlarge", 2) == ["TS-COL-002"]


@pytest.mark.parametrize(
    ("log", "instance_type", "nodes"),
    [
        (nccl({GB: 57.2}).replace("values : 0 OK", "values : 12 FAILED"), "p4d.24xlarge", 2),
        (
            hccl(21.2, before="Allreduce hccl_rank=3 size=33554432 <float> which is bad."),
            "dl1.24xlarge",
            4,
        ),
    ],
)
def test_wrong_results_come_first(log: str, instance_type: str, nodes: int) -> None:
    assert rules(log, instance_type, nodes)[0] == "TS-COL-001"


def test_a_good_run_has_no_findings() -> None:
    # Two p4d.24xlarge reach this: https://github.com/NVIDIA/nccl/issues/527
    assert rules(nccl({8: 0.01, GB: 57.2}), "p4d.24xlarge", 2) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([EFA], []),
        ([SOCKET], ["TS-COL-004"]),
        ([EFA.replace("is efa, fabric is efa", "is tcp;ofi_rxm")], ["TS-COL-004"]),
        (["node-a:1:2 [0] NCCL INFO Bootstrap : Using eth0"], ["TS-COL-004"]),
        ([], ["TS-COL-005"]),
        ([EFA.replace("provider is efa, fabric is efa", "Provider is efa")], []),
    ],
)
def test_traffic_over_tcp_is_seen_in_the_log(said: list[str], expected: list[str]) -> None:
    assert rules(nccl({GB: 57.2}, said=said), "p4d.24xlarge", 2) == expected


def test_a_silent_log_is_not_called_tcp() -> None:
    assert "does not say whether EFA was used" in messages(
        nccl({GB: 57.2}, said=[]), "p4d.24xlarge", 2
    )


def test_hccl_over_tcp_is_seen_in_its_variable() -> None:
    assert "TS-COL-004" in rules(hccl(21.2, before="HCCL_OVER_TCP=1"), "dl1.24xlarge", 4)


def test_missing_interfaces_are_counted() -> None:
    log = nccl({GB: 57.2}, said=[EFA, EFA.replace("found 4", "found 3")])

    assert rules(log, "p4d.24xlarge", 2) == ["TS-COL-006"]
    assert "found 3 EFA interfaces; p4d.24xlarge can have 4" in messages(log, "p4d.24xlarge", 2)


def test_idle_accelerators_are_counted() -> None:
    assert rules(nccl({GB: 57.2}, ranks=8), "p4d.24xlarge", 2) == ["TS-COL-007"]


@pytest.mark.parametrize(
    ("nw", "expected"),
    [
        pytest.param(21.136, [], id="published"),
        pytest.param(19.1, [], id="within-ten-percent"),
        pytest.param(18.5, ["TS-COL-008"], id="slower"),
        pytest.param(12.110, ["TS-COL-009", "TS-COL-011"], id="without-peer-direct"),
    ],
)
def test_gaudi_is_compared_with_what_is_published(nw: float, expected: list[str]) -> None:
    assert rules(hccl(nw), "dl1.24xlarge", 4) == expected


def test_peer_direct_off_is_told_from_slow() -> None:
    assert "slower than published" in messages(hccl(18.5), "dl1.24xlarge", 4)
    assert "peer-direct seems to be off" in messages(hccl(12.2), "dl1.24xlarge", 4)


def test_the_variable_that_the_log_shows_is_named() -> None:
    shown = "FI_EFA_USE_DEVICE_RDMA=0\nRDMAV_FORK_SAFE=1"

    said = messages(hccl(12.2, before=shown), "dl1.24xlarge", 4)

    assert "the log shows FI_EFA_USE_DEVICE_RDMA=0; set it to 1" in said
    assert "RDMAV_FORK_SAFE" not in said


@pytest.mark.parametrize(
    ("shown", "named"),
    [
        pytest.param("HCCL_OVER_OFI=1", True, id="alone"),
        pytest.param("HCCL_OVER_OFI=1\nHCCL_GAUDI_DIRECT=1", False, id="both"),
    ],
)
def test_the_variable_that_forces_host_memory_is_named(shown: str, named: bool) -> None:
    said = messages(hccl(12.2, before=shown), "dl1.24xlarge", 4)

    assert ("the log shows HCCL_OVER_OFI=1 without HCCL_GAUDI_DIRECT=1" in said) == named


def test_inside_one_gaudi_node_the_published_bandwidth_is_expected() -> None:
    assert rules(hccl(86, ranks=8), "dl1.24xlarge", 1) == []
    assert rules(hccl(60, ranks=8), "dl1.24xlarge", 1) == ["TS-COL-008"]


def test_nothing_is_compared_with_another_size_or_operation() -> None:
    small = hccl(1.0, size=1024)
    other = hccl(20.0, name="hcclBroadcast")

    assert rules(small, "dl1.24xlarge", 4) == ["TS-COL-013"]
    assert rules(other, "dl1.24xlarge", 4) == ["TS-COL-013"]


def test_what_must_cross_the_network_is_less_than_the_bus_bandwidth() -> None:
    # All-reduce over 2 nodes: each must send its half and receive the other's, once each way.
    use = network_use(read(nccl({GB: 57.2})), Cluster(instance=lookup("p4d.24xlarge"), nodes=2))

    assert use is not None
    assert use.gbps == pytest.approx(2 * (1 / 2) * 57.2 / (2 * 15 / 16) * 8)
    assert use.line_rate_gbps == 400


def test_more_than_the_line_rate_is_another_cluster() -> None:
    assert rules(nccl({GB: 180}), "p4d.24xlarge", 2) == ["TS-COL-010"]


def test_one_card_s_worth_is_suspicious() -> None:
    # TCP between two p4d.24xlarge uses one card of four.
    assert rules(nccl({GB: 20}), "p4d.24xlarge", 2) == ["TS-COL-011"]
    assert rules(nccl({1024: 20}), "p4d.24xlarge", 2) == ["TS-COL-013"]


@pytest.mark.parametrize(
    ("log", "instance_type", "nodes", "why"),
    [
        pytest.param(
            nccom({MB_32: 6.86}), "trn1.32xlarge", 2, "the log does not name the operation", id="op"
        ),
        pytest.param(
            nccl({GB: 57.2}, program="broadcast_perf"),
            "p4d.24xlarge",
            2,
            "nothing is published of broadcast on 2 x p4d.24xlarge, and no bound is known",
            id="no-bound",
        ),
        pytest.param(
            nccl({1024: 20}), "p4d.24xlarge", 2, "below 33554432 bytes latency decides", id="small"
        ),
        pytest.param(
            nccl({GB: 5}), "g5.48xlarge", 2, "nothing is published of all_reduce", id="one-card"
        ),
        pytest.param(
            nccl({GB: 5}, ranks=8, hosts=1), "p4d.24xlarge", 1, "nothing is published", id="node"
        ),
    ],
)
def test_what_was_not_judged_is_reported(
    log: str, instance_type: str, nodes: int, why: str
) -> None:
    said = messages(log, instance_type, nodes)

    assert f"TS-COL-013 warning: the bandwidth was not judged: {why}" in said


def test_runs_that_are_compared_with_each_other_are_judged() -> None:
    run = read(nccl({GB: 230}, ranks=8, hosts=1))
    node = Cluster(instance=lookup("p4d.24xlarge"), nodes=1)

    assert judge(run, node, compared=True) == []


# As people paste it: rows alone, of new versions, of old ones, and of an operation without a root.
ROW = "   33554432       8388608     float     sum      -1    512.4   65.48  122.78       0" + (
    "    510.2   65.77  123.31       0"
)
WITHOUT_ROOT = ROW.replace("      -1", "")
NO_REDUCTION = WITHOUT_ROOT.replace("     sum", "")


@pytest.mark.parametrize("row", [ROW, WITHOUT_ROOT, NO_REDUCTION])
@pytest.mark.parametrize(
    "before", ["", "[1,0]<stdout>:", "Wed Nov 25 10:21:03 2026[1,0]<stdout>: ", "node-7 | 17: "]
)
def test_rows_of_nccl_tests_are_read_without_their_headings(row: str, before: str) -> None:
    lines = ["12 more lines were cut", row, "36 channels, 2 of them idle", row, "and so on"]

    run = read("\n".join(before + line for line in lines))

    assert (run.tool, run.operation, len(run.measurements)) == (Tool.NCCL_TESTS, None, 4)
    assert (run.largest.size_bytes, run.largest.bus_gb_per_s) == (MB_32, 123.31)
    assert run.largest.time_us == 510.2


def test_a_table_keeps_its_own_columns_behind_any_prefix() -> None:
    plain = nccl({MB_32: 57.2, GB: 60})
    text = "\n".join(f"Wed Nov 25 10:21:03 2026[1,0]<stdout>: {x}" for x in plain.split("\n"))

    assert [replace(each, line=0) for each in read(text).measurements] == [
        replace(each, line=0) for each in read(plain).measurements
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Avg bus bandwidth    : 12.3456", "line 1: .*the table .* is missing; give its rows"),
        (ROW + " 0 0 0", "line 1: .*the line with the names of the columns is missing"),
    ],
)
def test_what_a_paste_of_nccl_tests_lacks_is_reported(text: str, said: str) -> None:
    with pytest.raises(UnreadableLog, match=said):
        read(text)


def test_another_number_of_nodes_is_refused() -> None:
    with pytest.raises(TrainshedError, match=r"lists 2 hosts \(node-0, node-1\), not 4"):
        rules(nccl({GB: 57.2}), "p4d.24xlarge", 4)


def test_one_slow_node_is_named() -> None:
    runs = [
        read_benchmark(nccl({GB: bus}, ranks=8, hosts=1), f"node{number}.log")
        for number, bus in enumerate([230, 228, 150, 231])
    ]

    assert ["node2.log" in finding.message for finding in slow_nodes(runs)] == [True]
    assert slow_nodes(runs[:2] + runs[3:]) == []


def test_only_the_same_benchmark_is_compared() -> None:
    runs = [read(nccl({size: 200})) for size in (GB, GB, MB_32)]

    with pytest.raises(TrainshedError, match="cannot be compared"):
        slow_nodes(runs)

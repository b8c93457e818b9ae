"""Logs of collective benchmarks, in the formats that the tools print.

nccl-tests: src/common.cu and src/util.cu of NVIDIA/nccl-tests. hccl_demo: hccl_demo.cpp of
HabanaAI/hccl_demo. nccom-test: the Neuron documentation's guide. NCCL's own lines: aws-ofi-nccl.
"""

from collections.abc import Mapping, Sequence

EFA = "node-a:188:585 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 4 nics)"
SOCKET = "node-a:188:585 [0] NCCL INFO Using network Socket"


def nccl(
    busbw: Mapping[int, float],
    *,
    ranks: int = 16,
    hosts: int = 2,
    said: Sequence[str] = (EFA,),
    program: str = "all_reduce_perf",
) -> str:
    """Return a log of nccl-tests of today, with an all-reduce's algorithm bandwidths.

    Args:
        busbw: bus bandwidth in GB/s by message size.
        ranks: processes.
        hosts: nodes, among which the ranks are divided.
        said: lines of NCCL.
        program: the test.
    """
    factor = 2 * (ranks - 1) / ranks
    rows = [
        f"{size:12d}  {size // 4:12d}     float     sum      -1"
        + f"  {size / bus / 1e3 * factor:7.1f}  {bus / factor:6.2f}  {bus:6.2f}       0" * 2
        for size, bus in busbw.items()
    ]
    devices = [
        f"#  Rank {rank:2d} Group  0 Pid  {1000 + rank} on node-{rank * hosts // ranks} device"
        f" {rank % 8:2d} [0000:{rank:02x}:00] NVIDIA A100-SXM4-40GB"
        for rank in range(ranks)
    ]
    both = "     time   algbw   busbw  #wrong"
    return "\n".join(
        [
            "# nccl-tests version 2.18.3 nccl-headers=23003 nccl-library=23003",
            f"# Collective test starting: {program}",
            "# nThread 1 nGpus 1 minBytes 8 maxBytes 1073741824 step: 2(factor) graph: 0",
            "#",
            "# Using devices",
            *devices,
            *said,
            "#",
            "#                                          out-of-place              in-place",
            f"#       size         count      type   redop    root{both}{both}",
            "#        (B)    (elements)                            (us)  (GB/s)  (GB/s)",
            *rows,
            "# Out of bounds values : 0 OK",
            "# Avg bus bandwidth    : 12.3456",
            f"# Collective test concluded: {program}",
            "",
        ]
    )


# Before 2022: no root, and the largest error in place of the number of wrong elements.
NCCL_2019 = """
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144   float     sum   1035.3    1.01    1.90  5e-07    643.4    1.63    3.06  5e-07
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 2.48
"""  # noqa: E501

NCCOM = """
$ nccom-test -r 64 -N 2 -d fp32 allr --hosts 10.1.4.145 10.1.4.138
    size(B)    count(elems)    type    time(us)    algbw(GB/s)    busbw(GB/s)
   33554432         8388608    fp32         768          40.69          80.11
Avg bus bandwidth:\t80.1100GB/s
"""

# As of Neuron SDK 2.31, with --stats avg p50 and --show-algorithm.
NCCOM_TODAY = """
+ nccom-test -r 64 -N 2 -b 8 -e 1073741824 -f 2 -d fp32 all_reduce --hosts 10.1.4.145 10.1.4.138
    size(B)    count(elems)    type    time:avg(us)    time:p50(us)    algbw(GB/s)    busbw(GB/s)    algorithm
   33554432         8388608    fp32         2754.15            2750          11.35          22.34    kangaring
Avg bus bandwidth:\t22.3400GB/s
"""  # noqa: E501


def nccom(busbw: Mapping[int, float]) -> str:
    """Return what nccom-test of today prints, without the command.

    Args:
        busbw: bus bandwidth by message size, in GiB/s, which it calls GB/s.
    """
    rows = [
        f"{size:11d}{size // 4:16d}    fp32{size / bus / 1.0737e3:16.2f}{bus / 2:15.2f}{bus:15.2f}"
        for size, bus in busbw.items()
    ]
    return "\n".join(
        [
            "    size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)",
            *rows,
            f"Avg bus bandwidth:\t{sum(busbw.values()) / len(busbw):.4f}GB/s",
        ]
    )


def hccl(
    nw: float,
    *,
    ranks: int = 32,
    size: int = 33554432,
    name: str = "hcclAllReduce",
    before: str = "",
) -> str:
    """Return a log of hccl_demo for one size.

    Args:
        nw: network bandwidth in GB/s.
        ranks: Gaudis.
        size: of the message.
        name: the operation.
        before: what stands above it.
    """
    algo = nw / (2 * (ranks - 1) / ranks)
    return f"""{before}
Affinity: Script has finished successfully
####################################################################################################
[BENCHMARK] {name}(src!=dst, data_size={size}, count={size // 4}, dtype=float, iterations=1000)
[BENCHMARK]     NW Bandwidth   : {nw:.6f} GB/s
[BENCHMARK]     Algo Bandwidth : {algo:.6f} GB/s
####################################################################################################
"""


# Before SynapseAI 1.10.
HCCL_2022 = """
Allreduce hccl_rank=0 size=33554432 <float> Input Buffer [0 4] reduced to [6 22] which is fine.
###############################################################################
[BENCHMARK] hcclAllReduce(src!=dst, count=8388608, dtype=fp32, iterations=1000)
[BENCHMARK]     Bandwidth     : 69214.565 MB/s
###############################################################################
"""

HCCL_REPORT = """
Processing data_size 16777216
###################################################
[SUMMARY REPORT]
(src!=dst, collective=all_reduce, iterations=1000)

size          count         type          redop         time          algo_bw       nw_bw
(B)           (elements)                                (us)          (GB/s)        (GB/s)
16777216      4194304       float         sum           1300.500      12.900000     24.993750
33554432      8388608       float         sum           2500.250      13.420000     26.001250

"""


def hccl_report(test: str, sizes: Sequence[int], *, ranks: int, nw: float = 25) -> str:
    """Return a report of hccl_demo for a range of sizes, as of SynapseAI 1.21.

    Args:
        test: the operation.
        sizes: the smallest and the largest.
        ranks: Gaudis.
        nw: network bandwidth in GB/s.
    """
    reduces = "reduce" in test
    factor = (1 + (test == "all_reduce")) * (ranks - 1) / ranks
    columns = ["size", "count", "type", *(["redop"] if reduces else []), "time", "algo_bw", "nw_bw"]
    units = ["(B)", "(elements)", "", *([""] if reduces else []), "(us)", "(GB/s)", "(GB/s)"]
    lines = [columns, units]
    size = sizes[0]
    while size <= sizes[1]:
        algo = nw / factor
        numbers = [f"{size / algo / 1e3:.3f}", f"{algo:.6f}", f"{nw:.6f}"]
        lines.append([str(size), str(size // 4), "float", *(["sum"] if reduces else []), *numbers])
        size *= 2
    table = "\n".join("".join(f"{cell:<14}" for cell in line) for line in lines)
    title = f"[SUMMARY REPORT]\n(src!=dst, collective={test}, iterations=1000)"
    return f"{'#' * 60}\n{title}\n\n{table}"


HCCL_REPORT_WITH_UNITS = """
[BANDWIDTH SUMMARY REPORT]
(src!=dst, collective=broadcast, iterations=10)

size              count             type              redop             time              algoBW            nw_bw
(B)               (elements)                                            (ms)              (GB/s)            (GB/s)
33554432          8388608           float                               2.5 ms            13.4 GB/s         13.4 GB/s
"""  # noqa: E501

"""Stand-ins of the benchmarks on accelerators, for a folder on PATH.

Each refuses arguments and variables with which the documented tool would not run, and prints what
that prints. None measures anything.
"""

import shlex
import sys
from pathlib import Path

_SUPPORT = Path(__file__).parent
# A shell script that hands itself to Python: Linux takes no interpreter with a space in its path.
_HEAD = f"""#!/bin/sh
''':'
exec {shlex.quote(sys.executable)} "$0" "$@"
'''
import argparse, os, subprocess, sys
sys.path.insert(0, {str(_SUPPORT)!r})
import benchmark_logs
parser = argparse.ArgumentParser(allow_abbrev=False)
node = os.environ["NODE_RANK"]
slow = 0.5 if node in os.environ.get("SLOW_NODES", "").split() else 1
broken = node in os.environ.get("BROKEN_NODES", "").split()
"""

# AWS Neuron documentation, "NCCOM-TEST User Guide". It starts mpirun with the hosts' addresses.
_NCCOM_TEST = """
parser.add_argument("-r", type=int, required=True)
parser.add_argument("-N", type=int, default=1)
for option in ("-b", "-e"):
    parser.add_argument(option, type=int, default=33554432)
for option in ("-f", "-n", "-w"):
    parser.add_argument(option, type=int, default=2)
parser.add_argument("-d", choices=["uint8", "fp32"], default="uint8")
parser.add_argument("--check", nargs="?", choices=["random", "all_ones"])
parser.add_argument("--non-interactive", action="store_true", required=True)
parser.add_argument("operation", choices=["all_reduce", "all_gather", "reduce_scatter"])
parser.add_argument("--hosts", nargs="+", default=[])
asked = parser.parse_args()
if asked.N > 1:
    main, port = os.environ["NEURON_RT_ROOT_COMM_ID"].split(":")
    assert main == asked.hosts[0] and int(port), asked.hosts
    assert len(asked.hosts) == asked.N, asked.hosts
    mpirun = ["mpirun", "-n", str(asked.N), "-hosts", ",".join(asked.hosts), "echo", "bench"]
    found = subprocess.run(mpirun, check=True, capture_output=True, text=True).stdout
    assert found.split() == ["bench"] * asked.N, found
if broken:
    print("    size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)")
    print("   33554432    Failure running neuron-bench - log file /tmp/nccom_test_log_7pqpdf.log")
    print("1 errors found - test failed")
    sys.exit(1)
sizes = [asked.b]
while sizes[-1] * asked.f <= asked.e:
    sizes.append(sizes[-1] * asked.f)
print(benchmark_logs.nccom({size: 60 * slow for size in sizes}))
"""

# HabanaAI/hccl_demo, run_hccl_demo.py: it starts ./hccl_demo, and node 0 has the report.
_RUN_HCCL_DEMO = """
os.setpgrp()
for option in ("--nranks", "--ranks_per_node", "--node_id", "--loop"):
    parser.add_argument(option, type=int, required=True)
parser.add_argument("--test", choices=["all_reduce", "all_gather", "reduce_scatter"])
parser.add_argument("--size", type=int)
parser.add_argument("--size_range", type=int, nargs=2)
asked = parser.parse_args()
assert os.path.exists("./hccl_demo")
host, port = os.environ["HCCL_COMM_ID"].split(":")
assert host and int(port)
assert 0 <= asked.node_id < asked.nranks // asked.ranks_per_node
print(f"HCCL_RANK={asked.node_id * asked.ranks_per_node} HCCL_NRANKS={asked.nranks} ./hccl_demo")
if broken:
    print("HCCL demo error: [run_test] One of the hccl_demo processes failed, terminating")
    os.kill(0, 15)
elif asked.node_id:
    print("which is fine.")
elif asked.size:
    print(benchmark_logs.hccl(86 * slow, ranks=asked.nranks, size=asked.size))
else:
    print(benchmark_logs.hccl_report(asked.test, asked.size_range, ranks=asked.nranks))
"""

# NVIDIA/nccl-tests, README.
_ALL_REDUCE_PERF = """
for option in ("-b", "-e", "-f", "-g"):
    parser.add_argument(option, type=int, required=True)
asked = parser.parse_args()
if broken:
    sys.exit("node-a: Test CUDA failure common.cu:1005 'out of memory'")
# Without a plugin for EFA NCCL takes TCP, and says so if it is asked to.
tcp = os.environ.get("NODE_RANK") in os.environ.get("TCP_NODES", "").split()
said = [benchmark_logs.SOCKET if tcp else benchmark_logs.EFA]
said = said if os.environ.get("NCCL_DEBUG") == "INFO" else []
print(benchmark_logs.nccl({asked.e: 200 * slow}, ranks=asked.g, hosts=1, said=said))
"""

# Open MPI 4, mpirun(1): a daemon on each other host by the agent, one process for each slot.
_MPIRUN = """
parser.add_argument("--version", action="store_true")
parser.add_argument("--hostfile")
for option in ("-n", "-N"):
    parser.add_argument(option, type=int)
parser.add_argument("--mca", nargs=2, action="append")
parser.add_argument("--bind-to", choices=["none"])
parser.add_argument("program", nargs=argparse.REMAINDER)
asked = parser.parse_args()
if asked.version:
    sys.exit(print("mpirun (Open MPI) 4.1.7"))
hosts = [line.split(" slots=") for line in open(asked.hostfile).read().splitlines()]
assert asked.n == sum(int(slots) for _, slots in hosts) == asked.N * len(hosts)
for host, _ in hosts[1:]:
    daemon = [os.environ["OMPI_MCA_plm_rsh_agent"], host, "echo orted; test $NCCL_DEBUG = INFO"]
    subprocess.run(daemon, check=True)
name, *sizes = asked.program
print(benchmark_logs.nccl({int(sizes[3]): 60}, ranks=asked.n, hosts=len(hosts), program=name))
"""


def install(folder: Path, *names: str) -> Path:
    """Write some stand-ins into a folder; return it."""
    programs = {
        "nccom-test": _NCCOM_TEST,
        "run_hccl_demo.py": _RUN_HCCL_DEMO,
        "all_reduce_perf": _ALL_REDUCE_PERF,
        "mpirun": _MPIRUN,
    }
    for name in names:
        path = folder / name
        path.write_text(_HEAD + programs[name], encoding="utf-8")
        path.chmod(0o755)
    return folder

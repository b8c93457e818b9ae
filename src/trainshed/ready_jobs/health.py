"""A check of each node by itself: all its accelerators, and the links between them.

trainshed-launch checks the devices before. All nodes do it at once, and each to its end: the log
names every node that failed, and `trainshed bench judge` one that is slow.
"""

from dataclasses import replace

from trainshed.catalogue import AcceleratorFamily
from trainshed.jobs.submission import LAUNCHER
from trainshed.ready_jobs.commands import WITHOUT_NCCOM_TEST, hccl_demo, shell
from trainshed.ready_jobs.model import JobNodes, Parameter, ReadyJob, Values, Work

_MINUTES = "minutes"
_PARAMETERS = (
    Parameter(
        name=_MINUTES,
        what="a node that takes longer has failed, with exit code 124",
        default="10",
        source="ours: the benchmark itself takes seconds",
    ),
)


# aws-ofi-nccl up to 1.13 writes "Provider", later ones "provider"; NCCL's own line, of 2.21 to
# 2.32, is "Using network Socket" when it found no plugin.
_OVER_EFA = (
    'grep -qi "NET/OFI selected provider is efa" "$log" || '
    '{ echo "trainshed: ERROR: NCCL does not use EFA on this node: '
    '$(grep -om 1 "Using network .*" "$log" || echo "its log names no network")"; exit 1; }'
)


def _on_each(command: tuple[str, ...], values: Values) -> Work:
    limit = ("timeout", f"{values[_MINUTES]}m")
    return Work(command=(LAUNCHER, "--keep-going", *limit, *command))


def _hccl_demo(nodes: JobNodes, values: Values) -> Work:
    """By its README, "Running HCCL on 1 server"."""
    benchmark = hccl_demo(
        "127.0.0.1:5555",
        f"--nranks {nodes.ranks_each} --ranks_per_node {nodes.ranks_each} --node_id 0 "
        "--test all_reduce --size 33554432 --loop 1000",
    )
    return _on_each(benchmark, values)


def _nccom_test(nodes: JobNodes, values: Values) -> Work:
    """By AWS Neuron's "NCCOM-TEST User Guide", single instance; 32 MB is its own size."""
    # --check may be followed by the name of a method, so the operation does not follow it.
    benchmark = f"nccom-test -r {nodes.ranks_each} -d fp32 --check --non-interactive all_reduce"
    return _on_each(shell(benchmark), values)


def _nccl_tests(nodes: JobNodes, values: Values) -> Work:
    """By the README of nccl-tests, "Quick examples": without mpirun, one process for all GPUs.

    NCCL chooses its network on a single node, too. Where the nodes have EFA, a node whose NCCL does
    not choose it has failed: between nodes it would use TCP.
    """
    benchmark = f"all_reduce_perf -b 8 -e 134217728 -f 2 -g {nodes.ranks_each}"
    if not nodes.instance.efa_interfaces_max:
        return _on_each(shell(benchmark), values)
    made = ("log=$(mktemp)", "trap 'rm -f \"$log\"' EXIT")
    lines = (*made, f'{benchmark} 2>&1 | tee "$log"', _OVER_EFA)
    judged = ("bash", "-eo", "pipefail", "-c", "; ".join(lines))
    work = _on_each(judged, values)
    # Without it the log does not say which network it is.
    return replace(work, environment={"NCCL_DEBUG": "INFO"})


_WHAT = "checks each node alone: its devices, and an all-reduce between them by {}"

HEALTH = (
    ReadyJob(
        name="health",
        what=_WHAT.format("hccl_demo"),
        family=AcceleratorFamily.HABANA,
        parameters=_PARAMETERS,
        work=_hccl_demo,
    ),
    ReadyJob(
        name="health",
        what=_WHAT.format("nccom-test"),
        family=AcceleratorFamily.NEURON,
        parameters=_PARAMETERS,
        work=_nccom_test,
        without=WITHOUT_NCCOM_TEST,
    ),
    ReadyJob(
        name="health",
        what=_WHAT.format("nccl-tests"),
        family=AcceleratorFamily.NVIDIA,
        parameters=_PARAMETERS,
        work=_nccl_tests,
    ),
)

"""Collective operations over all nodes, by the benchmark of the accelerators' maker."""

from trainshed.catalogue import AcceleratorFamily
from trainshed.errors import TrainshedError
from trainshed.jobs.submission import LAUNCHER
from trainshed.ready_jobs.commands import WITHOUT_NCCOM_TEST, hccl_demo, shell
from trainshed.ready_jobs.model import JobNodes, Kind, Parameter, ReadyJob, Values, Work

_OPERATION = "operation"
_FROM, _TO = "min_bytes", "max_bytes"
_TIMES = "iterations"

_OPERATIONS = Parameter(
    name=_OPERATION,
    what="the collective operation",
    default="all_reduce",
    source="ours: what the documents of all three measure",
    kind=Kind.CHOICE,
    choices=("all_reduce", "all_gather", "reduce_scatter"),
)


def _parameters(smallest: str, largest: str, times: str, source: str) -> tuple[Parameter, ...]:
    return (
        _OPERATIONS,
        Parameter(
            name=_FROM,
            what="smallest message",
            default=smallest,
            source=source,
            kind=Kind.SIZE,
        ),
        Parameter(
            name=_TO,
            what="largest message; sizes double up to it",
            default=largest,
            source=source,
            kind=Kind.SIZE,
        ),
        Parameter(
            name=_TIMES, what="how often each size is measured", default=times, source=source
        ),
    )


def _sizes(values: Values) -> tuple[int, int]:
    smallest, largest = int(values[_FROM]), int(values[_TO])
    if smallest > largest:
        raise TrainshedError(
            f"{_FROM} is {smallest} bytes, more than {_TO}, {largest}; set both, the smaller first"
        )
    return smallest, largest


def _hccl_demo(nodes: JobNodes, values: Values) -> Work:
    """By its README, "Running HCCL demo on 2 servers", and run_hccl_demo.py --help."""
    smallest, largest = _sizes(values)
    return Work(
        command=(
            LAUNCHER,
            *hccl_demo(
                "$MASTER_ADDR:$MASTER_PORT",
                f"--nranks {nodes.ranks} --ranks_per_node {nodes.ranks_each} --node_id $NODE_RANK "
                f"--test {values[_OPERATION]} --size_range {smallest} {largest} "
                f"--loop {values[_TIMES]}",
            ),
        )
    )


def _nccom_test(nodes: JobNodes, values: Values) -> Work:
    """By AWS Neuron's "NCCOM-TEST User Guide", "MPI Execution": on the main node alone.

    It starts neuron-bench on all nodes, by an mpirun that "may" need ssh, the guide says. Inferred:
    that mpirun takes trainshed-launch in place of ssh, by Open MPI's variables.
    """
    smallest, largest = _sizes(values)
    measure = (
        f"-b {smallest} -e {largest} -f 2 -n {values[_TIMES]} -w 5 -d fp32 --non-interactive "
        f"{values[_OPERATION]}"
    )
    if nodes.count == 1:
        return Work(command=(LAUNCHER, *shell(f"nccom-test -r {nodes.ranks} {measure}")))
    return Work(
        command=(
            LAUNCHER,
            *shell(
                "[ $NODE_RANK = 0 ] || exit 0",
                "export NEURON_RT_ROOT_COMM_ID=$MASTER_ADDR:$MASTER_PORT",
                f"nccom-test -r {nodes.ranks} -N {nodes.count} {measure} "
                "--hosts $TRAINSHED_ADDRESSES",
            ),
        )
    )


def _nccl_tests(nodes: JobNodes, values: Values) -> Work:
    """By the EC2 user guide, "Get started with EFA and NCCL": one process for each GPU.

    The guide leaves MPI's own messages to TCP, beside `lo` and `docker0`; an awsvpc container has
    ecs-eth0, too, which no other node reaches.
    """
    smallest, largest = _sizes(values)
    return Work(
        command=(
            *(LAUNCHER, "--processes", str(nodes.ranks_each)),
            *("mpirun", "-n", str(nodes.ranks), "-N", str(nodes.ranks_each)),
            *("--mca", "pml", "^cm", "--mca", "btl", "tcp,self"),
            *("--mca", "btl_tcp_if_exclude", "lo,docker0,ecs-eth0", "--bind-to", "none"),
            *(f"{values[_OPERATION]}_perf", "-b", str(smallest), "-e", str(largest), "-f", "2"),
            *("-g", "1", "-c", "1", "-n", str(values[_TIMES])),
        ),
        # Without it the log does not say whether EFA was used.
        environment={"NCCL_DEBUG": "INFO"},
    )


_WHAT = "bandwidth of a collective operation between all accelerators, by {}"
# Of an all-gather it is what each rank sends: at 256 MB, what 128 ranks send does not fit into one.
_HCCL_DEMO_SOURCE = "hccl_demo README: 32 MB, 1000 times; the smallest is ours"
_NCCOM_TEST_SOURCE = "AWS Neuron documentation, NCCOM-TEST User Guide, multiple instances"
_NCCL_TESTS_SOURCE = "EC2 user guide, Get started with EFA and NCCL"

COLLECTIVES = (
    ReadyJob(
        name="collectives",
        what=_WHAT.format("hccl_demo"),
        family=AcceleratorFamily.HABANA,
        parameters=_parameters("1M", "32M", "1000", _HCCL_DEMO_SOURCE),
        work=_hccl_demo,
    ),
    ReadyJob(
        name="collectives",
        what=_WHAT.format("nccom-test"),
        family=AcceleratorFamily.NEURON,
        parameters=_parameters("8", "1G", "50", _NCCOM_TEST_SOURCE),
        work=_nccom_test,
        without=WITHOUT_NCCOM_TEST,
    ),
    ReadyJob(
        name="collectives",
        what=_WHAT.format("nccl-tests"),
        family=AcceleratorFamily.NVIDIA,
        parameters=_parameters("8", "1G", "100", _NCCL_TESTS_SOURCE),
        work=_nccl_tests,
    ),
)

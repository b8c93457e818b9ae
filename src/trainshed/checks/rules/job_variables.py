"""Variables that cannot be the same on all nodes, or that hide accelerators."""

from collections.abc import Iterator

from trainshed.catalogue import AcceleratorFamily
from trainshed.checks import clusters
from trainshed.checks.variables import asked_variable, variable_path
from trainshed.findings import Basis, Violation, rule
from trainshed.plan import ClusterPlan

# Beside those that the launcher sets, which a plan refuses.
_MEETING_PLACE = ("HCCL_COMM_ID", "NCCL_COMM_ID", "NEURON_RT_ROOT_COMM_ID", "RANK", "WORLD_SIZE")
_VISIBLE = {
    AcceleratorFamily.HABANA: ("HABANA_VISIBLE_DEVICES", "HABANA_VISIBLE_MODULES"),
    AcceleratorFamily.NEURON: ("NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES"),
    AcceleratorFamily.NVIDIA: ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"),
}


@rule(
    "TS-ENV-010",
    over=clusters,
    title="All nodes get the same address, rank or size of the job",
    why="""
Variables of the cluster file are those of every node and every job. The address of the main node is
another one in each job, and the rank another one on each node: processes wait for each other
forever, or fail. `trainshed-launch` gives each job MASTER_ADDR, NODE_RANK and NNODES.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/mnp-env-vars.html",),
    example="""
instance: {type: trn1.32xlarge, nodes: {max: 4}}
job: {environment: {NEURON_RT_ROOT_COMM_ID: "10.20.0.10:41000"}}
""",
)
def fixed_meeting_place(plan: ClusterPlan) -> Iterator[Violation]:
    """What differs between jobs or nodes cannot be in the cluster file."""
    several = plan.nodes.max > 1
    for name in _MEETING_PLACE:
        if several and asked_variable(plan, name) is not None:
            yield Violation(
                path=variable_path(name),
                message=f"{name} is the same on every node and in every job",
                remedy=f"leave {name} out, and start the command with trainshed-launch",
            )


@rule(
    "TS-ENV-011",
    over=clusters,
    title="Jobs see some of the node's accelerators only",
    why="""
A job has the whole node. Accelerators that a variable hides from it are paid for and do nothing.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html",
        "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/neuron-runtime/nrt-configurable-parameters.html",
    ),
    example="""
instance: {type: p4d.24xlarge}
job: {environment: {CUDA_VISIBLE_DEVICES: "0,1"}}
""",
)
def hidden_accelerators(plan: ClusterPlan) -> Iterator[Violation]:
    """Jobs should see all that is paid for."""
    for name in _VISIBLE.get(plan.instance.accelerator.family, ()):
        value = asked_variable(plan, name)
        if value is not None and value != "all":
            yield Violation(
                path=variable_path(name),
                message=f"{name} is {value!r} in every job of nodes with "
                f"{plan.instance.accelerator.count} accelerators",
                remedy=f"leave {name} out, or set it for one job: trainshed job submit --env "
                f"{name}={value}",
            )

"""Variables of `job.environment` that turn EFA or the collective libraries off, or break them."""

from collections.abc import Iterator

from trainshed.catalogue import AcceleratorFamily
from trainshed.checks.rule import Basis, Violation, rule
from trainshed.findings import Severity
from trainshed.plan import BatchPlan, ClusterPlan

_NCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
_CHEATSHEET = (
    "https://github.com/awslabs/awsome-distributed-ai/blob/main/architectures/efa-cheatsheet.md"
)
_NEURON_EFA = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/"
    "setup-trn1-multi-node-execution.html"
)
_HCCL_DEMO = "https://github.com/HabanaAI/hccl_demo"
_OFF = ("", "0")
# What libfabric takes for no, in capitals, too.
_LIBFABRIC_OFF = (*_OFF, "false", "no", "off")
_SOCKET_VARIABLES = (
    "CCOM_SOCKET_IFNAME",
    "GLOO_SOCKET_IFNAME",
    "HCCL_SOCKET_IFNAME",
    "NCCL_SOCKET_IFNAME",
)
# Beside lo and ecs-eth0, which no other node reaches, the container of a multi-node job has this.
_CONTAINER_INTERFACE = "eth0"
_MEETING_PLACE = (
    "HCCL_COMM_ID",
    "MASTER_ADDR",
    "NCCL_COMM_ID",
    "NEURON_RT_ROOT_COMM_ID",
    "NODE_RANK",
    "RANK",
    "WORLD_SIZE",
)
_VISIBLE = {
    AcceleratorFamily.HABANA: ("HABANA_VISIBLE_DEVICES", "HABANA_VISIBLE_MODULES"),
    AcceleratorFamily.NEURON: ("NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES"),
    AcceleratorFamily.NVIDIA: ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"),
}


def _asked(plan: ClusterPlan, name: str) -> str | None:
    return plan.spec.job.environment.get(name)


def _path(name: str) -> tuple[str, ...]:
    return ("job", "environment", name)


def _has_efa(plan: ClusterPlan) -> bool:
    return bool(plan.devices.get("efa"))


@rule(
    "TS-ENV-001",
    title="FI_PROVIDER keeps jobs off EFA",
    why="""
`FI_PROVIDER` says which providers libfabric may use. With another one than `efa`, traffic between
nodes goes over TCP through one network card, often ten times slower, and nothing says so. Neuron's
libraries need `efa`; aws-ofi-nccl finds it without the variable.
""",
    sources=(
        "https://ofiwg.github.io/libfabric/main/man/fabric.7.html",
        _CHEATSHEET,
        _NEURON_EFA,
    ),
    example="""
name: Example
region: us-west-2
instance: {type: p4d.24xlarge}
job: {environment: {FI_PROVIDER: tcp}}
""",
)
def other_provider(plan: ClusterPlan) -> Iterator[Violation]:
    """Libfabric must be allowed to use EFA."""
    provider = _asked(plan, "FI_PROVIDER")
    if provider is None or not _has_efa(plan):
        return
    names = provider.removeprefix("^").split(",")
    if ("efa" in names) == provider.startswith("^"):
        yield Violation(
            path=_path("FI_PROVIDER"),
            message=f"FI_PROVIDER is {provider!r}: libfabric does not use the EFA interfaces of "
            f"{plan.instance.name}",
            remedy="leave FI_PROVIDER out, or set it to efa",
        )


@rule(
    "TS-ENV-002",
    title="NCCL is told to use another network than EFA",
    why="""
`NCCL_NET: Socket` makes NCCL use TCP, and `NCCL_NET_PLUGIN: none` leaves out the plugin by which it
uses EFA, aws-ofi-nccl. Jobs run, and traffic between nodes is as slow as TCP.
""",
    sources=(_NCCL,),
    example="""
name: Example
region: us-west-2
instance: {type: p4d.24xlarge}
job: {environment: {NCCL_NET: Socket}}
""",
)
def other_nccl_network(plan: ClusterPlan) -> Iterator[Violation]:
    """NCCL must be allowed to use aws-ofi-nccl."""
    if not _has_efa(plan) or plan.instance.accelerator.family is not AcceleratorFamily.NVIDIA:
        return
    for name, wrong in (("NCCL_NET", ("socket", "ib")), ("NCCL_NET_PLUGIN", ("none",))):
        value = _asked(plan, name)
        if value is not None and value.lower() in wrong:
            yield Violation(
                path=_path(name),
                message=f"{name} is {value!r}: NCCL does not use EFA",
                remedy=f"leave {name} out: NCCL finds the plugin for EFA by itself",
            )


@rule(
    "TS-ENV-003",
    title="Direct traffic between the GPUs of a node is turned off",
    why="""
`NCCL_P2P_DISABLE` and `NCCL_SHM_DISABLE` are switches for finding a fault. Without direct access
GPUs exchange data through the host's memory instead of NVLink, and without shared memory either,
over the network.
""",
    sources=(_NCCL,),
    example="""
name: Example
region: us-west-2
instance: {type: p4d.24xlarge}
job: {environment: {NCCL_P2P_DISABLE: "1"}}
""",
)
def no_peer_to_peer(plan: ClusterPlan) -> Iterator[Violation]:
    """GPUs of a node should reach each other directly."""
    if plan.instance.accelerator.count < 2:
        return
    for name in ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"):
        value = _asked(plan, name)
        if value is not None and value not in _OFF:
            yield Violation(
                path=_path(name),
                message=f"{name} is {value!r}: the {plan.instance.accelerator.count} GPUs of a "
                "node exchange data by a slower way",
                remedy=f"leave {name} out of the cluster file; set it for one job to find a fault: "
                f"trainshed job submit --env {name}={value}",
            )


@rule(
    "TS-ENV-004",
    title="NCCL_PROTO is left over from older plugins",
    why="""
`NCCL_PROTO: simple` was needed with aws-ofi-nccl up to 1.5.0. Newer ones choose protocols
themselves, and without the variable NCCL uses faster ones for small messages.
""",
    sources=(_CHEATSHEET, _NCCL),
    example="""
name: Example
region: us-west-2
instance: {type: p4d.24xlarge}
job: {environment: {NCCL_PROTO: simple}}
""",
)
def old_nccl_protocol(plan: ClusterPlan) -> Iterator[Violation]:
    """NCCL should choose its protocols."""
    value = _asked(plan, "NCCL_PROTO")
    if value is not None and value.lower() == "simple" and _has_efa(plan):
        yield Violation(
            path=_path("NCCL_PROTO"),
            message=f"NCCL_PROTO is {value!r}, which only aws-ofi-nccl up to 1.5.0 needs: small "
            "messages are slower with it",
            remedy="leave NCCL_PROTO out",
        )


@rule(
    "TS-ENV-005",
    title="RDMA is asked for on a type whose EFA has none",
    severity=Severity.ERROR,
    why="""
With `FI_EFA_USE_DEVICE_RDMA: "1"`, libfabric ends the process when the EFA device cannot read by
RDMA: `EFA device has no rdma-read capability. Application will abort().`
""",
    sources=("https://github.com/ofiwg/libfabric/tree/main/prov/efa",),
    example="""
name: Example
region: us-west-2
instance: {type: p3dn.24xlarge}
job: {environment: {FI_EFA_USE_DEVICE_RDMA: "1"}}
""",
)
def rdma_that_is_not_there(plan: ClusterPlan) -> Iterator[Violation]:
    """Only EFA with RDMA takes the variable."""
    value = _asked(plan, "FI_EFA_USE_DEVICE_RDMA")
    if (
        value is None
        or value.lower() in _LIBFABRIC_OFF
        or not _has_efa(plan)
        or plan.instance.efa_rdma
    ):
        return
    yield Violation(
        path=_path("FI_EFA_USE_DEVICE_RDMA"),
        message=f"FI_EFA_USE_DEVICE_RDMA is {value!r}, and the EFA of {plan.instance.name} has no "
        "RDMA: libfabric ends the job",
        remedy="leave FI_EFA_USE_DEVICE_RDMA out",
    )


@rule(
    "TS-ENV-006",
    title="RDMA is turned off on a type that has it",
    why="""
Without RDMA, EFA copies data through buffers of the host. Neuron and Gaudi use their EFA interfaces
directly only with `FI_EFA_USE_DEVICE_RDMA: "1"`, which jobs get by default, and aws-ofi-nccl
expects RDMA on P4d and later types.
""",
    sources=(_NEURON_EFA, _HCCL_DEMO, _CHEATSHEET),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge}
job: {environment: {FI_EFA_USE_DEVICE_RDMA: "0"}}
""",
)
def no_rdma(plan: ClusterPlan) -> Iterator[Violation]:
    """EFA's RDMA should stay on."""
    value = _asked(plan, "FI_EFA_USE_DEVICE_RDMA")
    if (
        value is not None
        and value.lower() in _LIBFABRIC_OFF
        and _has_efa(plan)
        and plan.instance.efa_rdma
    ):
        yield Violation(
            path=_path("FI_EFA_USE_DEVICE_RDMA"),
            message=f"FI_EFA_USE_DEVICE_RDMA is {value!r}: data goes through the host's memory, "
            f"though the EFA of {plan.instance.name} has RDMA",
            remedy="leave FI_EFA_USE_DEVICE_RDMA out: jobs get what the accelerator needs",
        )


@rule(
    "TS-ENV-007",
    title="RDMAV_FORK_SAFE is set for other accelerators than Gaudi",
    why="""
AWS's guide for distributed training says not to use `RDMAV_FORK_SAFE`: newer kernels make forks
safe by themselves, and with the variable processes that fork may fail. Only Habana requires it,
for peer-direct of Gaudi, whose jobs get it by default.
""",
    sources=(_CHEATSHEET, _HCCL_DEMO),
    example="""
name: Example
region: us-west-2
instance: {type: p4d.24xlarge}
job: {environment: {RDMAV_FORK_SAFE: "1"}}
""",
)
def fork_safe(plan: ClusterPlan) -> Iterator[Violation]:
    """The variable is for Gaudi only."""
    value = _asked(plan, "RDMAV_FORK_SAFE")
    family = plan.instance.accelerator.family
    if value is not None and family is not AcceleratorFamily.HABANA and _has_efa(plan):
        yield Violation(
            path=_path("RDMAV_FORK_SAFE"),
            message=f"RDMAV_FORK_SAFE is {value!r} on {plan.instance.name}: on newer kernels "
            "processes that fork may fail with it",
            remedy="leave RDMAV_FORK_SAFE out",
        )


@rule(
    "TS-ENV-008",
    title="HCCL is told to use TCP between nodes",
    why="""
`HCCL_OVER_TCP: "1"` makes Gaudi's collective library use plain sockets between nodes instead of
libfabric and EFA.
""",
    sources=(_HCCL_DEMO,),
    example="""
name: Example
region: us-west-2
instance: {type: dl1.24xlarge}
job: {environment: {HCCL_OVER_TCP: "1"}}
""",
)
def hccl_over_tcp(plan: ClusterPlan) -> Iterator[Violation]:
    """HCCL should go over EFA."""
    value = _asked(plan, "HCCL_OVER_TCP")
    habana = plan.instance.accelerator.family is AcceleratorFamily.HABANA
    if value is not None and value not in _OFF and habana and _has_efa(plan):
        yield Violation(
            path=_path("HCCL_OVER_TCP"),
            message=f"HCCL_OVER_TCP is {value!r}: traffic between nodes does not use EFA",
            remedy='set HCCL_OVER_OFI: "1" instead',
        )


@rule(
    "TS-ENV-009",
    title="A library is told to meet on a network interface that nodes do not have",
    why="""
The container of a multi-node job of AWS Batch has `eth0`, its own interface, `ecs-eth0`, which no
other node reaches, and `lo`. On plain EC2 nodes, Amazon Linux and Ubuntu call interfaces `ens5` or
the like, and there is no `eth0`. A library that finds no interface of the name fails, and one that
takes an unreachable one waits for ever.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",
        _NCCL,
    ),
    example="""
name: Example
region: us-west-2
instance: {type: p4d.24xlarge}
job: {environment: {NCCL_SOCKET_IFNAME: ens}}
""",
)
def interface_that_is_not_there(plan: ClusterPlan) -> Iterator[Violation]:
    """Libraries must find the interface by which nodes reach each other."""
    batch = isinstance(plan.orchestrator, BatchPlan)
    for name in _SOCKET_VARIABLES:
        value = _asked(plan, name)
        if value is None or _finds(value, _CONTAINER_INTERFACE) == batch:
            continue
        where = "the container of a job" if batch else "a node"
        if not batch and not value.startswith(("eth", "=eth")):
            continue
        yield Violation(
            path=_path(name),
            message=f"{name} is {value!r}, and that does not give the interface by which {where} "
            "reaches the others",
            remedy=f"leave {name} out: jobs get the right one"
            if batch
            else f"leave {name} out, or name the interface that `ip link` shows on a node",
        )


def _finds(value: str, interface: str) -> bool:
    """Whether a list of prefixes, in NCCL's form, gives an interface."""
    exact = value.lstrip("^").startswith("=")
    names = value.lstrip("^").removeprefix("=").split(",")
    listed = any(interface == name or (not exact and interface.startswith(name)) for name in names)
    return listed != value.startswith("^")


@rule(
    "TS-ENV-010",
    title="All nodes get the same address, rank or size of the job",
    why="""
Variables of the cluster file are those of every node and every job. The address of the main node is
another one in each job, and the rank another one on each node: processes wait for each other for
ever, or fail. `trainshed-launch` sets them for each job.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/batch/latest/userguide/mnp-env-vars.html",),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 4}}
job: {environment: {MASTER_ADDR: 10.20.0.10}}
""",
)
def fixed_meeting_place(plan: ClusterPlan) -> Iterator[Violation]:
    """What differs between jobs or nodes cannot be in the cluster file."""
    several = plan.spec.instance.nodes.max > 1
    for name in _MEETING_PLACE:
        if several and _asked(plan, name) is not None:
            yield Violation(
                path=_path(name),
                message=f"{name} is the same on every node and in every job",
                remedy=f"leave {name} out, and start the command with trainshed-launch",
            )


@rule(
    "TS-ENV-011",
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
name: Example
region: us-west-2
instance: {type: p4d.24xlarge}
job: {environment: {CUDA_VISIBLE_DEVICES: "0,1"}}
""",
)
def hidden_accelerators(plan: ClusterPlan) -> Iterator[Violation]:
    """Jobs should see all that is paid for."""
    for name in _VISIBLE.get(plan.instance.accelerator.family, ()):
        value = _asked(plan, name)
        if value is not None and value != "all":
            yield Violation(
                path=_path(name),
                message=f"{name} is {value!r} in every job of nodes with "
                f"{plan.instance.accelerator.count} accelerators",
                remedy=f"leave {name} out, or set it for one job: trainshed job submit --env "
                f"{name}={value}",
            )

"""Variables that keep collective libraries off EFA, or from meeting."""

from collections.abc import Iterator

from trainshed.catalogue import AcceleratorFamily
from trainshed.checks import clusters
from trainshed.checks.variables import (
    CHEATSHEET,
    HCCL_DEMO,
    OFF,
    asked_variable,
    has_efa,
    variable_path,
)
from trainshed.findings import Basis, Violation, rule
from trainshed.plan import ClusterPlan

_NCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
_HCCL_HOST_NIC = (
    "https://docs.habana.ai/en/latest/API_Reference_Guides/HCCL_APIs/Scale_Out_via_Host_NIC.html"
)
_SOCKET_VARIABLES = (
    "CCOM_SOCKET_IFNAME",
    "GLOO_SOCKET_IFNAME",
    "HCCL_SOCKET_IFNAME",
    "NCCL_SOCKET_IFNAME",
)
# Beside lo and ecs-eth0, which no other node reaches, the container of a multi-node job has this.
_CONTAINER_INTERFACE = "eth0"


@rule(
    "TS-ENV-002",
    over=clusters,
    title="NCCL is told to use another network than EFA",
    why="""
`NCCL_NET: Socket` makes NCCL use TCP, and `NCCL_NET_PLUGIN: none` leaves out the plugin by which it
uses EFA, aws-ofi-nccl. Jobs run, and traffic between nodes is as slow as TCP.
""",
    sources=(_NCCL,),
    example="""
instance: {type: p4d.24xlarge}
job: {environment: {NCCL_NET: Socket}}
""",
)
def other_nccl_network(plan: ClusterPlan) -> Iterator[Violation]:
    """NCCL must be allowed to use aws-ofi-nccl."""
    if not has_efa(plan) or plan.instance.accelerator.family is not AcceleratorFamily.NVIDIA:
        return
    for name, wrong in (("NCCL_NET", ("socket", "ib")), ("NCCL_NET_PLUGIN", ("none",))):
        value = asked_variable(plan, name)
        if value is not None and value.lower() in wrong:
            yield Violation(
                path=variable_path(name),
                message=f"{name} is {value!r}: NCCL does not use EFA",
                remedy=f"leave {name} out: NCCL finds the plugin for EFA by itself",
            )


@rule(
    "TS-ENV-003",
    over=clusters,
    title="Direct traffic between the GPUs of a node is turned off",
    why="""
`NCCL_P2P_DISABLE` and `NCCL_SHM_DISABLE` are switches for finding a fault. Without direct access
GPUs exchange data through the host's memory instead of NVLink, and without shared memory either,
over the network.
""",
    sources=(_NCCL,),
    example="""
instance: {type: p4d.24xlarge}
job: {environment: {NCCL_P2P_DISABLE: "1"}}
""",
)
def no_peer_to_peer(plan: ClusterPlan) -> Iterator[Violation]:
    """GPUs of a node should reach each other directly."""
    if plan.instance.accelerator.count < 2:
        return
    for name in ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"):
        value = asked_variable(plan, name)
        if value is not None and value not in OFF:
            yield Violation(
                path=variable_path(name),
                message=f"{name} is {value!r}: the {plan.instance.accelerator.count} GPUs of a "
                "node exchange data by a slower way",
                remedy=f"leave {name} out of the cluster file; set it for one job to find a fault: "
                f"trainshed job submit --env {name}={value}",
            )


@rule(
    "TS-ENV-004",
    over=clusters,
    title="NCCL_PROTO is left over from older plugins",
    why="""
`NCCL_PROTO: simple` was needed with aws-ofi-nccl up to 1.5.0. Newer ones choose protocols
themselves, and without the variable NCCL uses faster ones for small messages.
""",
    sources=(CHEATSHEET, _NCCL),
    example="""
instance: {type: p4d.24xlarge}
job: {environment: {NCCL_PROTO: simple}}
""",
)
def old_nccl_protocol(plan: ClusterPlan) -> Iterator[Violation]:
    """NCCL should choose its protocols."""
    value = asked_variable(plan, "NCCL_PROTO")
    if value is not None and value.lower() == "simple" and has_efa(plan):
        yield Violation(
            path=variable_path("NCCL_PROTO"),
            message=f"NCCL_PROTO is {value!r}, which only aws-ofi-nccl up to 1.5.0 needs: small "
            "messages are slower with it",
            remedy="leave NCCL_PROTO out",
        )


@rule(
    "TS-ENV-008",
    over=clusters,
    title="HCCL is told to use TCP between nodes",
    why="""
`HCCL_OVER_TCP: "1"` makes Gaudi's collective library use plain sockets between nodes instead of
libfabric and EFA.
""",
    sources=(HCCL_DEMO,),
    example="""
instance: {type: dl1.24xlarge}
job: {environment: {HCCL_OVER_TCP: "1"}}
""",
)
def hccl_over_tcp(plan: ClusterPlan) -> Iterator[Violation]:
    """HCCL should go over EFA."""
    value = asked_variable(plan, "HCCL_OVER_TCP")
    habana = plan.instance.accelerator.family is AcceleratorFamily.HABANA
    if value is not None and value not in OFF and habana and has_efa(plan):
        yield Violation(
            path=variable_path("HCCL_OVER_TCP"),
            message=f"HCCL_OVER_TCP is {value!r}: traffic between nodes does not use EFA",
            remedy="leave HCCL_OVER_TCP out: HCCL finds EFA by itself",
        )


@rule(
    "TS-ENV-012",
    over=clusters,
    title="HCCL is told to send data between nodes through the host's memory",
    why="""
`HCCL_OVER_OFI: "1"` turns off HCCL's choice of the fastest way between nodes, and makes it copy
data through the host's memory, unless `HCCL_GAUDI_DIRECT: "1"` stands beside it. Left alone, HCCL
chooses Gaudi Direct over EFA, by which EFA reads the memory of the Gaudis. Habana measured
12.1 GB/s without it and 21.1 GB/s with it on four dl1.24xlarge.
""",
    sources=(_HCCL_HOST_NIC, HCCL_DEMO),
    example="""
instance: {type: dl1.24xlarge}
job: {environment: {HCCL_OVER_OFI: "1"}}
""",
)
def hccl_through_host_memory(plan: ClusterPlan) -> Iterator[Violation]:
    """EFA should read and write the Gaudis' memory directly."""
    over_ofi = asked_variable(plan, "HCCL_OVER_OFI")
    habana = plan.instance.accelerator.family is AcceleratorFamily.HABANA
    if over_ofi is None or over_ofi in OFF or not habana or not has_efa(plan):
        return
    direct = asked_variable(plan, "HCCL_GAUDI_DIRECT")
    if direct is None or direct in OFF:
        found = "is not set" if direct is None else f"is {direct!r}"
        yield Violation(
            path=variable_path("HCCL_OVER_OFI"),
            message=f"HCCL_OVER_OFI is {over_ofi!r} and HCCL_GAUDI_DIRECT {found}: HCCL copies "
            "data between nodes through the host's memory",
            remedy="leave both out: HCCL chooses Gaudi Direct over EFA by itself",
        )


@rule(
    "TS-ENV-009",
    over=clusters,
    title="A library is told to meet on a network interface that nodes do not have",
    why="""
The container of a multi-node job of AWS Batch has `eth0`, its own interface, `ecs-eth0`, which no
other node reaches, and `lo`. On plain EC2 nodes, Amazon Linux and Ubuntu call interfaces `ens5` or
the like, and there is no `eth0`. A library that finds no interface of the name fails, and one that
takes an unreachable one waits forever.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",
        _NCCL,
    ),
    example="""
instance: {type: p4d.24xlarge}
job: {environment: {NCCL_SOCKET_IFNAME: ens}}
""",
)
def interface_that_is_not_there(plan: ClusterPlan) -> Iterator[Violation]:
    """Libraries must find the interface by which nodes reach each other."""
    in_container = plan.traits.in_containers
    for name in _SOCKET_VARIABLES:
        value = asked_variable(plan, name)
        # What is left when some are excluded is not known on a node.
        if value is None or (not in_container and value.startswith("^")):
            continue
        if _finds(value, _CONTAINER_INTERFACE) == in_container:
            continue
        where = "the container of a job" if in_container else "a node"
        yield Violation(
            path=variable_path(name),
            message=f"{name} is {value!r}, and that does not give the interface by which {where} "
            "reaches the others",
            remedy=f"leave {name} out, or set it to {_CONTAINER_INTERFACE}"
            if in_container
            else f"leave {name} out, or name the interface that `ip link` shows on a node",
        )


def _finds(value: str, interface: str) -> bool:
    """Whether a list of prefixes, in NCCL's form, gives an interface."""
    exact = value.lstrip("^").startswith("=")
    names = value.lstrip("^").removeprefix("=").split(",")
    listed = any(interface == name or (not exact and interface.startswith(name)) for name in names)
    return listed != value.startswith("^")

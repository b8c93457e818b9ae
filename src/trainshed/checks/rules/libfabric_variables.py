"""Variables that keep libfabric off EFA, or break it there."""

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
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import ClusterPlan

# What libfabric takes for no, in capitals, too.
_LIBFABRIC_OFF = (*OFF, "false", "no", "off")
_NEURON_EFA = (
    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/"
    "setup-trn1-multi-node-execution.html"
)


@rule(
    "TS-ENV-001",
    over=clusters,
    title="FI_PROVIDER keeps jobs off EFA",
    why="""
`FI_PROVIDER` says which providers libfabric may use. With another one than `efa`, traffic between
nodes goes over TCP through one network card, often ten times slower, and nothing says so. Neuron's
libraries need `efa`; aws-ofi-nccl finds it without the variable.
""",
    sources=(
        "https://ofiwg.github.io/libfabric/main/man/fabric.7.html",
        CHEATSHEET,
        _NEURON_EFA,
    ),
    example="""
instance: {type: p4d.24xlarge}
job: {environment: {FI_PROVIDER: tcp}}
""",
)
def other_provider(plan: ClusterPlan) -> Iterator[Violation]:
    """Libfabric must be allowed to use EFA."""
    provider = asked_variable(plan, "FI_PROVIDER")
    if provider is None or not has_efa(plan):
        return
    names = provider.removeprefix("^").split(",")
    if ("efa" in names) == provider.startswith("^"):
        yield Violation(
            path=variable_path("FI_PROVIDER"),
            message=f"FI_PROVIDER is {provider!r}: libfabric does not use the EFA interfaces of "
            f"{plan.instance.name}",
            remedy="leave FI_PROVIDER out, or set it to efa",
        )


@rule(
    "TS-ENV-005",
    over=clusters,
    title="RDMA is asked for on a type whose EFA has none",
    severity=Severity.ERROR,
    why="""
With `FI_EFA_USE_DEVICE_RDMA: "1"`, libfabric ends the process when the EFA device cannot read by
RDMA: `EFA device has no rdma-read capability. Application will abort().`
""",
    sources=("https://github.com/ofiwg/libfabric/tree/main/prov/efa",),
    example="""
instance: {type: p3dn.24xlarge}
job: {environment: {FI_EFA_USE_DEVICE_RDMA: "1"}}
""",
)
def rdma_that_is_not_there(plan: ClusterPlan) -> Iterator[Violation]:
    """Only EFA with RDMA takes the variable."""
    value = asked_variable(plan, "FI_EFA_USE_DEVICE_RDMA")
    if (
        value is None
        or value.lower() in _LIBFABRIC_OFF
        or not has_efa(plan)
        or plan.instance.efa_rdma
    ):
        return
    yield Violation(
        path=variable_path("FI_EFA_USE_DEVICE_RDMA"),
        message=f"FI_EFA_USE_DEVICE_RDMA is {value!r}, and the EFA of {plan.instance.name} has no "
        "RDMA: libfabric ends the job",
        remedy="leave FI_EFA_USE_DEVICE_RDMA out",
    )


@rule(
    "TS-ENV-006",
    over=clusters,
    title="RDMA is turned off on a type that has it",
    why="""
Without RDMA, EFA copies data through buffers of the host. Neuron and Gaudi use their EFA interfaces
directly only with `FI_EFA_USE_DEVICE_RDMA: "1"`, which jobs get by default, and aws-ofi-nccl
expects RDMA on P4d and later types.
""",
    sources=(_NEURON_EFA, HCCL_DEMO, CHEATSHEET),
    example="""
instance: {type: trn1.32xlarge}
job: {environment: {FI_EFA_USE_DEVICE_RDMA: "0"}}
""",
)
def no_rdma(plan: ClusterPlan) -> Iterator[Violation]:
    """EFA's RDMA should stay on."""
    value = asked_variable(plan, "FI_EFA_USE_DEVICE_RDMA")
    if (
        value is not None
        and value.lower() in _LIBFABRIC_OFF
        and has_efa(plan)
        and plan.instance.efa_rdma
    ):
        yield Violation(
            path=variable_path("FI_EFA_USE_DEVICE_RDMA"),
            message=f"FI_EFA_USE_DEVICE_RDMA is {value!r}: data goes through the host's memory, "
            f"though the EFA of {plan.instance.name} has RDMA",
            remedy="leave FI_EFA_USE_DEVICE_RDMA out: jobs get what the accelerator needs",
        )


@rule(
    "TS-ENV-007",
    over=clusters,
    title="RDMAV_FORK_SAFE is set for other accelerators than Gaudi",
    why="""
AWS's guide for distributed training says not to use `RDMAV_FORK_SAFE`: newer kernels make forks
safe by themselves, and with the variable processes that fork may fail. Only Habana requires it,
for peer-direct of Gaudi, whose jobs get it by default.
""",
    sources=(CHEATSHEET, HCCL_DEMO),
    example="""
instance: {type: p4d.24xlarge}
job: {environment: {RDMAV_FORK_SAFE: "1"}}
""",
)
def fork_safe(plan: ClusterPlan) -> Iterator[Violation]:
    """The variable is for Gaudi only."""
    value = asked_variable(plan, "RDMAV_FORK_SAFE")
    family = plan.instance.accelerator.family
    if value is not None and family is not AcceleratorFamily.HABANA and has_efa(plan):
        yield Violation(
            path=variable_path("RDMAV_FORK_SAFE"),
            message=f"RDMAV_FORK_SAFE is {value!r} on {plan.instance.name}: on newer kernels "
            "processes that fork may fail with it",
            remedy="leave RDMAV_FORK_SAFE out",
        )

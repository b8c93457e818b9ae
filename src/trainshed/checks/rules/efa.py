"""Whether nodes have the EFA interfaces that they need, and use them."""

from collections.abc import Iterator

from trainshed.catalogue import with_efa_like
from trainshed.checks import clusters
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import ClusterPlan

_EFA_PAGE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html"


@rule(
    "TS-EFA-002",
    over=clusters,
    title="A cluster of one node does not use its EFA interfaces",
    why="""
EFA carries traffic between nodes. With `instance.nodes.max: 1`, which is the default, a job has
no other node to talk to.
""",
    severity=Severity.INFO,
    sources=(_EFA_PAGE,),
    example="instance: {type: trn1.32xlarge}",
)
def one_node(plan: ClusterPlan) -> Iterator[Violation]:
    """EFA needs a second node."""
    efa_interfaces = sum(row.kind.has_efa for row in plan.interfaces)
    if plan.nodes.max == 1 and efa_interfaces and not plan.lustre_efa_interfaces:
        yield Violation(
            path=("instance", "nodes", "max"),
            message=f"the cluster has one node at most, so nothing uses the {efa_interfaces} EFA "
            f"interfaces of {plan.instance.name}",
            remedy="raise instance.nodes.max for jobs of several nodes; for jobs of one, leave it",
        )


@rule(
    "TS-EFA-003",
    over=clusters,
    title="EFA of the instance type has no RDMA",
    why="""
With RDMA, an accelerator's data goes from its memory to the network. Without it, as on P3dn, G4dn
and G5, all of it is copied through the memory of the host first, so that collectives between
nodes reach less of the bandwidth.
""",
    severity=Severity.INFO,
    sources=("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html",),
    example="instance: {type: g5.48xlarge, nodes: {max: 4}}",
)
def no_rdma(plan: ClusterPlan) -> Iterator[Violation]:
    """Collectives between nodes want RDMA."""
    instance = plan.instance
    if plan.nodes.max > 1 and instance.efa_interfaces_max and not instance.efa_rdma:
        yield Violation(
            path=("instance", "type"),
            message=f"AWS documents no RDMA for the EFA of {instance.name}: what nodes exchange is "
            "copied through the memory of the host",
            remedy="for jobs that exchange much, take a type that has it, for instance one of p4d, "
            "p5 or trn1",
        )


@rule(
    "TS-EFA-014",
    over=clusters,
    title="Nodes reach each other over TCP",
    why="""
The instance type has no EFA. Jobs of several nodes run, and NCCL exchanges data by TCP sockets:
each byte is copied through the memory of the host and the kernel, at the bandwidth of the node's
one network interface. A step that must add up the gradients of all nodes waits for that. NCCL opens
several connections, because EC2 limits a single one to 10 Gbps in a cluster placement group, and to
5 Gbps outside of one.
""",
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-network-bandwidth.html",
        "https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",
    ),
    example="instance: {type: g5.4xlarge, nodes: {max: 2}}",
)
def over_tcp(plan: ClusterPlan) -> Iterator[Violation]:
    """Nodes that work together want EFA."""
    instance = plan.instance
    if plan.nodes.max > 1 and not instance.efa_interfaces_max:
        near = with_efa_like(instance, plan.region)
        yield Violation(
            path=("instance", "type"),
            message=f"{instance.name} has no EFA: what {plan.nodes.max} nodes exchange goes over "
            f"TCP, at most {instance.network_gbps:g} Gbps for each node",
            remedy=f"take a type with EFA, for instance {near.name} with {near.efa_gbps:g} Gbps, "
            "or accept this",
        )

"""One cluster explained: its node, its interfaces, what was decided and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from trainshed.checks import judge
from trainshed.cost import monitoring_cost
from trainshed.explain.calendar import WindowRow, calendar_rows
from trainshed.findings import Finding
from trainshed.interfaces import Bandwidth, NetworkInterface, efa_bandwidth
from trainshed.monitoring import monitoring_of
from trainshed.parts.cluster import planned_facts
from trainshed.plan import ClusterPlan, Decision, Fleet
from trainshed.prices import load_prices


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceRow:
    """Interfaces of one node that differ in nothing but their card.

    Attributes:
        cards: card indexes, for instance `0` or `1-7`.
        device: device index on each of them.
        kind: EC2's `InterfaceType`.
        ip: takes a private address.
        primary: is the instance's own interface.
        reason: why it is there.
    """

    cards: str
    device: int
    kind: str
    ip: bool
    primary: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What `trainshed explain` shows of a cluster.

    Attributes:
        name: the cluster, which is also its compute stack.
        file: where it is described.
        nodes: how many there may be, and of what type.
        accelerators: of one node.
        memory: main memory, vCPUs and instance store of one node.
        place: account, region and zone.
        capacity: how nodes are bought.
        calendar: the windows in which they are there; none where they always may be.
        profile: layout of the interfaces.
        interfaces: of one node, in card and device order.
        job_interface: a job gets an interface of its own on each node.
        job_addresses: private addresses that jobs take on each node.
        addresses_per_node: private addresses, those of a job with them.
        addresses: private addresses of the largest cluster.
        efa: what the layout uses of the type's EFA bandwidth; None for a type without EFA.
        monitoring: how many graphs and alarms there are, and what that costs; None for none.
        stacks: names of the stacks that the cluster is made of.
        decisions: every choice with its reason.
        findings: what may be wrong.
    """

    name: str
    file: str
    nodes: str
    accelerators: str
    memory: str
    place: str
    capacity: str
    calendar: tuple[WindowRow, ...]
    profile: str
    interfaces: tuple[InterfaceRow, ...]
    job_interface: bool
    job_addresses: int
    addresses_per_node: int
    addresses: int
    efa: Bandwidth | None
    monitoring: str | None
    stacks: tuple[str, ...]
    decisions: tuple[Decision, ...]
    findings: tuple[Finding, ...]


def explain(plan: ClusterPlan, fleet: Fleet | None = None) -> Explanation:
    """Explain a plan; its findings are those among a fleet's clusters, or those of it alone."""
    instance = plan.instance
    facts = {name: fact.value for name, fact in planned_facts(plan).items()}
    storage = f", {instance.local_storage_gb} GB local" if instance.local_storage_gb else ""
    network = plan.network
    # A stack that adds nothing to an existing VPC is empty, and the CDK CLI skips it.
    filled = bool(network.cidr or network.default_security_group_id or plan.network_storages)
    stacks = (
        plan.prerequisites_stack_name,
        filled and network.stack_name,
        *(each.stack_name for each in plan.storages),
        plan.control_plane and plan.control_plane.stack_name,
        plan.repository and plan.repository.stack_name,
        plan.name,
    )
    return Explanation(
        name=plan.name,
        file=plan.where.file,
        nodes=f"{facts['nodes']} x {facts['instance type']}",
        accelerators=facts["accelerators"],
        memory=f"{instance.memory_mib // 1024} GiB, {instance.vcpus} vCPUs{storage}",
        place=", ".join(part for part in (plan.account, plan.region, plan.zone.name) if part),
        capacity=facts["capacity"],
        calendar=calendar_rows(plan.capacity.calendar),
        profile=facts["interface layout"],
        interfaces=tuple(_rows(plan.interfaces)),
        job_interface=plan.job_interface,
        job_addresses=plan.job_addresses,
        addresses_per_node=plan.addresses_per_node,
        addresses=plan.addresses,
        efa=efa_bandwidth(instance, plan.interfaces),
        monitoring=_monitoring(plan),
        stacks=tuple(stack for stack in stacks if stack),
        decisions=plan.decisions,
        findings=judge(plan, fleet),
    )


def _monitoring(plan: ClusterPlan) -> str | None:
    watching, cost = monitoring_of(plan), monitoring_cost(plan, load_prices(plan.region))
    if not watching:
        return None
    return f"{len(watching.widgets)} graphs, {len(watching.alarms)} alarms; {cost}"


def _rows(interfaces: Sequence[NetworkInterface]) -> list[InterfaceRow]:
    def same_kind(row: NetworkInterface) -> tuple[object, ...]:
        return row.device, row.kind, row.reason, row.primary

    return [_row(list(group)) for _, group in groupby(interfaces, key=same_kind)]


def _row(group: Sequence[NetworkInterface]) -> InterfaceRow:
    first, last = group[0], group[-1]
    return InterfaceRow(
        cards=f"{first.card}" if first is last else f"{first.card}-{last.card}",
        device=first.device,
        kind=first.kind.value,
        ip=first.kind.takes_ip,
        primary=first.primary,
        reason=first.reason,
    )

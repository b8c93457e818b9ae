"""The components of a cluster that are paid for, and how much there is of each."""

from collections.abc import Iterator
from dataclasses import replace

from trainshed.cost.model import CostRow
from trainshed.plan import CapacityKind, ClusterPlan, LustrePlan, NetworkPlan, root_volume
from trainshed.prices import (
    ECR_STORED,
    ENDPOINT_GB,
    ENDPOINT_HOUR,
    GP3,
    GP3_IOPS,
    GP3_THROUGHPUT,
    LOGS_INGESTED,
    LOGS_STORED,
    LUSTRE_BACKUP,
    LUSTRE_METADATA_IOPS,
    NAT_GB,
    NAT_HOUR,
    PUBLIC_IPV4_HOUR,
    PriceList,
    Purchase,
    instance_item,
    lustre_item,
)
from trainshed.spec import DeploymentType

# FSx for Lustre user guide, "File system metadata performance": what comes with the storage, by the
# smallest storage in GiB that has it. From 48000 GiB on it is 12000 for each 24000 GiB.
_INCLUDED_IOPS = ((48000, 0), (12000, 12000), (4800, 6000), (2400, 3000), (0, 1500))
_IOPS_STEP, _STEP_GIB = 12000, 24000


def cost_rows(plan: ClusterPlan, prices: PriceList, billed: int | None) -> Iterator[CostRow]:
    """Yield the components of a cluster.

    Args:
        plan: the cluster.
        prices: those of its region.
        billed: nodes that are there in a run; None for no run.
    """
    yield from node_rows(plan, prices, billed)
    for row in (
        *(lustre_rows(plan.lustre, prices) if plan.lustre else ()),
        *network_rows(plan.network, prices),
    ):
        yield replace(row, run=None if billed is None else row.full)
    yield from _rows_by_use(plan, prices)


def node_rows(plan: ClusterPlan, prices: PriceList, billed: int | None = None) -> Iterator[CostRow]:
    """Yield the nodes of a cluster and their volumes; the arguments are those of `cost_rows`."""
    most, idle = plan.nodes.max, plan.nodes.min
    block = plan.capacity.kind is CapacityKind.CAPACITY_BLOCK
    purchase = Purchase.CAPACITY_BLOCK if block else Purchase.ON_DEMAND
    item = instance_item(purchase, plan.instance.name)
    # What is reserved is paid for whether nodes run or not (EC2 user guide, "Capacity Reservation
    # pricing and billing" and "Capacity Blocks pricing and billing").
    reserved = plan.capacity.kind is not CapacityKind.ON_DEMAND
    yield CostRow(
        component=f"instances, {plan.capacity.kind}",
        item=item,
        price=prices.price(item),
        idle=most if reserved else idle,
        full=most,
        run=None if billed is None else most if reserved else billed,
    )
    root = plan.root_volume
    for component, item, each in (
        (f"root volumes, gp3, {root.gib} GiB each", GP3, root.gib),
        (
            "root volumes, {} MiB/s more than gp3 has",
            GP3_THROUGHPUT,
            root.throughput - root_volume.GP3_THROUGHPUT,
        ),
        (
            "root volumes, {} IOPS more than gp3 has",
            GP3_IOPS,
            root.iops - root_volume.GP3_IOPS,
        ),
    ):
        if each:
            yield CostRow(
                component=component.format(each),
                item=item,
                price=prices.price(item),
                idle=each * idle,
                full=each * most,
                run=None if billed is None else each * billed,
            )


def lustre_rows(lustre: LustrePlan, prices: PriceList) -> Iterator[CostRow]:
    """Yield what a file system costs, all the time; of one that is there already, nothing."""
    new = lustre.new
    if new is None:
        return
    item = lustre_item(new.deployment, new.throughput)
    throughput = f", {new.throughput} MB/s per TiB" if new.throughput else ""
    yield CostRow(
        component=f"Lustre {new.deployment}, {new.capacity_gib} GiB{throughput}",
        item=item,
        price=prices.price(item),
        idle=new.capacity_gib,
        full=new.capacity_gib,
    )
    more = (new.metadata_iops or 0) - included_metadata_iops(new.capacity_gib)
    if more > 0:
        yield CostRow(
            component=f"Lustre metadata, {more} IOPS above those included",
            item=LUSTRE_METADATA_IOPS,
            price=prices.price(LUSTRE_METADATA_IOPS),
            idle=more,
            full=more,
        )


def included_metadata_iops(capacity_gib: int) -> int:
    """Return the metadata IOPS that come with the storage of a persistent-2 file system."""
    included = next(iops for least, iops in _INCLUDED_IOPS if capacity_gib >= least)
    return included or capacity_gib // _STEP_GIB * _IOPS_STEP


def network_rows(network: NetworkPlan, prices: PriceList) -> Iterator[CostRow]:
    """Yield what a network costs, all the time; of one that is there already, nothing."""
    if network.cidr is None:
        return
    zones = len(network.subnets)
    for component, item in (
        ("NAT gateway", NAT_HOUR),
        ("public address of the NAT gateway", PUBLIC_IPV4_HOUR),
    ):
        yield CostRow(
            component=component, item=item, price=prices.price(item), idle=zones, full=zones
        )
    if services := network.endpoint_services:
        # An endpoint is paid for in each zone.
        endpoints = zones * len(services)
        yield CostRow(
            component=f"interface endpoints: {', '.join(services)}",
            item=ENDPOINT_HOUR,
            price=prices.price(ENDPOINT_HOUR),
            idle=endpoints,
            full=endpoints,
        )


def _rows_by_use(plan: ClusterPlan, prices: PriceList) -> Iterator[CostRow]:
    """Yield what is paid for by the gigabyte, of which a plan does not know how many there are."""
    new_network = plan.network.cidr is not None
    lustre = plan.lustre and plan.lustre.new
    # As LustreFileSystem has it: FSx backs up no file system that is linked to S3, and no scratch.
    backed_up = lustre and lustre.deployment is DeploymentType.PERSISTENT_2 and not lustre.s3
    for component, item, there in (
        ("traffic through the NAT gateway", NAT_GB, new_network),
        (
            "traffic through interface endpoints",
            ENDPOINT_GB,
            new_network and plan.network.endpoint_services,
        ),
        ("backups of Lustre", LUSTRE_BACKUP, backed_up),
        ("logs that CloudWatch takes in", LOGS_INGESTED, True),
        ("logs that CloudWatch keeps", LOGS_STORED, True),
        ("container images in ECR", ECR_STORED, plan.repository),
    ):
        if there:
            yield CostRow(component=component, item=item, price=prices.price(item), by_use=True)

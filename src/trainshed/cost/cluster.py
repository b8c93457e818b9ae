"""The cost of one cluster: what its plan has, times what that costs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from trainshed.cost.model import HOURS_PER_MONTH, CostRow, Run, Total, Way, total
from trainshed.errors import TrainshedError
from trainshed.plan import CapacityKind, ClusterPlan, Ec2Plan
from trainshed.prices import (
    ECR_STORED,
    ENDPOINT_GB,
    ENDPOINT_HOUR,
    GP3,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCost:
    """What a cluster costs.

    Attributes:
        name: the cluster.
        file: where it is described.
        region: whose prices these are.
        rows: the components.
        ways: how else its nodes could be bought.
        idle: an hour in which no job runs.
        full: an hour at full size.
        run: the run that was asked about, if one was.
        remarks: what to know before the figures are used.
    """

    name: str
    file: str
    region: str
    rows: tuple[CostRow, ...]
    ways: tuple[Way, ...]
    idle: Total
    full: Total
    run: Run | None
    remarks: tuple[str, ...]

    @property
    def unknown(self) -> tuple[str, ...]:
        """The components that some total does not count, because nobody knows their price."""
        run = self.run.cost.unknown if self.run else ()
        return tuple(dict.fromkeys((*self.full.unknown, *self.idle.unknown, *run)))

    @property
    def idle_month(self) -> Total:
        """A month in which no job runs."""
        return self.idle.times(HOURS_PER_MONTH)

    @property
    def full_month(self) -> Total:
        """A month at full size, all of the time."""
        return self.full.times(HOURS_PER_MONTH)


def cluster_cost(
    plan: ClusterPlan, prices: PriceList, *, nodes: int | None = None, hours: float | None = None
) -> ClusterCost:
    """Work out what a cluster costs.

    Args:
        plan: the cluster.
        prices: those of its region.
        nodes: that a run takes; by default all.
        hours: how long the run lasts; None for no run.

    Raises:
        TrainshedError: the cluster never has so many nodes, or the hours are none.
    """
    billed = None
    if hours is not None:
        nodes = _run_nodes(plan, nodes, hours)
        billed = max(nodes, _idle_nodes(plan))
    elif nodes is not None:
        raise TrainshedError(
            f"{nodes} nodes are those of a run; say for how many hours it lasts, too"
        )
    rows = tuple(_rows(plan, prices, billed))
    counted = [row for row in rows if not row.by_use]
    run = None
    if nodes and billed is not None and hours is not None:
        an_hour = total((row.component, row.run_usd_per_hour) for row in counted)
        run = Run(nodes=nodes, billed_nodes=billed, hours=hours, cost=an_hour.times(hours))
    return ClusterCost(
        name=plan.spec.name,
        file=plan.spec.where.file,
        region=plan.region,
        rows=rows,
        ways=tuple(_ways(plan, prices)),
        idle=total((row.component, row.idle_usd_per_hour) for row in counted),
        full=total((row.component, row.full_usd_per_hour) for row in counted),
        run=run,
        remarks=tuple(_remarks(plan)),
    )


def _run_nodes(plan: ClusterPlan, nodes: int | None, hours: float) -> int:
    most = plan.spec.instance.nodes.max
    asked = most if nodes is None else nodes
    if not 1 <= asked <= most:
        raise TrainshedError(
            f"a run on {asked} nodes: {plan.spec.name} has 1 to {most} (instance.nodes.max)"
        )
    # Also false for what is not a number.
    if not 0 < hours < float("inf"):
        raise TrainshedError(f"a run of {hours:g} hours: give a number above 0")
    return asked


def _idle_nodes(plan: ClusterPlan) -> int:
    """Count the nodes that run, and are paid for, without a job."""
    nodes = plan.spec.instance.nodes
    return nodes.max if isinstance(plan.orchestrator, Ec2Plan) else nodes.min


def _rows(plan: ClusterPlan, prices: PriceList, billed: int | None) -> Iterator[CostRow]:
    yield from _node_rows(plan, prices, billed)
    for row in (*_lustre_rows(plan, prices), *_network_rows(plan, prices)):
        yield replace(row, idle=row.full, run=None if billed is None else row.full)
    yield from _rows_by_use(plan, prices)


def _node_rows(plan: ClusterPlan, prices: PriceList, billed: int | None) -> Iterator[CostRow]:
    most, idle = plan.spec.instance.nodes.max, _idle_nodes(plan)
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
    gib = plan.spec.instance.root_gib
    yield CostRow(
        component=f"root volumes, gp3, {gib} GiB each",
        item=GP3,
        price=prices.price(GP3),
        idle=gib * idle,
        full=gib * most,
        run=None if billed is None else gib * billed,
    )


def _lustre_rows(plan: ClusterPlan, prices: PriceList) -> Iterator[CostRow]:
    if plan.lustre is None or plan.lustre.spec.existing:
        return
    spec = plan.lustre.spec
    item = lustre_item(spec.deployment, spec.throughput)
    throughput = f", {spec.throughput} MB/s per TiB" if spec.throughput else ""
    yield CostRow(
        component=f"Lustre {spec.deployment}, {spec.capacity_gib} GiB{throughput}",
        item=item,
        price=prices.price(item),
        full=spec.capacity_gib,
    )
    more = (spec.metadata_iops or 0) - included_metadata_iops(spec.capacity_gib)
    if more > 0:
        yield CostRow(
            component=f"Lustre metadata, {more} IOPS above those included",
            item=LUSTRE_METADATA_IOPS,
            price=prices.price(LUSTRE_METADATA_IOPS),
            full=more,
        )


def included_metadata_iops(capacity_gib: int) -> int:
    """Return the metadata IOPS that come with the storage of a persistent-2 file system."""
    included = next(iops for least, iops in _INCLUDED_IOPS if capacity_gib >= least)
    return included or capacity_gib // _STEP_GIB * _IOPS_STEP


def _network_rows(plan: ClusterPlan, prices: PriceList) -> Iterator[CostRow]:
    if plan.network.cidr is None:
        return
    for component, item in (
        ("NAT gateway", NAT_HOUR),
        ("public address of the NAT gateway", PUBLIC_IPV4_HOUR),
    ):
        yield CostRow(component=component, item=item, price=prices.price(item), full=1)
    if services := plan.network.endpoint_services:
        yield CostRow(
            component=f"interface endpoints: {', '.join(services)}",
            item=ENDPOINT_HOUR,
            price=prices.price(ENDPOINT_HOUR),
            full=len(services),
        )


def _rows_by_use(plan: ClusterPlan, prices: PriceList) -> Iterator[CostRow]:
    """Yield what is paid for by the gigabyte, of which a plan does not know how many there are."""
    new_network = plan.network.cidr is not None
    lustre = plan.lustre.spec if plan.lustre and not plan.lustre.spec.existing else None
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


def _ways(plan: ClusterPlan, prices: PriceList) -> Iterator[Way]:
    remarks = {
        Purchase.ON_DEMAND: "a reservation costs the same, also while its nodes do not run",
        Purchase.SPOT: "an order of magnitude; AWS Batch runs no multi-node jobs on Spot",
        Purchase.CAPACITY_BLOCK: "paid when it is bought, whatever of it is used",
    }
    for purchase, remark in remarks.items():
        if purchase in plan.instance.usage_classes:
            price = prices.price(instance_item(purchase, plan.instance.name))
            yield Way(purchase=purchase, price=price, remark=remark)


def _remarks(plan: ClusterPlan) -> Iterator[str]:
    instance = plan.instance
    if instance.withdrawn:
        yield (
            f"the EC2 API has not listed {instance.name} since {instance.lifecycle.last_seen}: "
            "that it has a price does not mean that it can be launched"
        )
    if plan.capacity.kind is not CapacityKind.ON_DEMAND:
        yield (
            f"{plan.capacity.reservation_id} is taken to hold {plan.spec.instance.nodes.max} "
            "instances, which are paid for whether they run or not"
        )
    if plan.lustre and plan.lustre.spec.existing:
        yield f"{plan.lustre.spec.existing} is there already; what it costs is not counted"
    if plan.network.vpc_id:
        yield f"{plan.network.vpc_id} is there already; what its ways out cost is not counted"
    yield (
        "not priced: S3, data that leaves the region, your own KMS key, and the functions that run "
        "during a deployment"
    )

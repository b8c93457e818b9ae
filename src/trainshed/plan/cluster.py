"""The plan of one cluster."""

from collections.abc import Mapping
from dataclasses import dataclass

from trainshed import catalogue
from trainshed.catalogue import InstanceType
from trainshed.devices import node_devices
from trainshed.errors import UnknownName
from trainshed.findings import Finding
from trainshed.interfaces import InterfaceProfile, NetworkInterface, plan_interfaces
from trainshed.plan.ami import AmiPlan, plan_ami
from trainshed.plan.capacity import CapacityKind, CapacityPlan, plan_capacity
from trainshed.plan.container import ContainerPlan, plan_container
from trainshed.plan.container_image import ImagePlan, plan_image
from trainshed.plan.job import decide_job
from trainshed.plan.job_access import decide_job_access
from trainshed.plan.lustre_efa import plan_lustre_efa
from trainshed.plan.network import NetworkPlan, check_addresses, plan_network
from trainshed.plan.notes import Decision, Notes, origin
from trainshed.plan.region import region_problem
from trainshed.plan.repository import RepositoryPlan, plan_repository
from trainshed.plan.security import decide_security
from trainshed.plan.stack_names import stack_name
from trainshed.plan.storage import LustreMount, LustrePlan, plan_lustre
from trainshed.plan.tags import resource_tags
from trainshed.plan.zone import Zone, plan_zone
from trainshed.spec import ClusterSpec, SpecError

# AWS Batch, UpdatePolicy: the longest time that a job may go on during an infrastructure update.
LONGEST_UPDATE_MINUTES = 7200
_FAILED_BOOT_HOURS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """One cluster with every default resolved.

    Attributes:
        spec: what was asked.
        account: AWS account, or None to leave it to the deployment.
        region: AWS region.
        zone: where the nodes are.
        instance: facts of the nodes' type.
        profile: layout of the interfaces.
        interfaces: the network interfaces of one node.
        capacity: how nodes are bought.
        ami: AMI of the nodes.
        network: the VPC.
        devices: how many of each kind a node must have to take jobs, see `node_devices`.
        lustre: shared file system, or None.
        lustre_efa_interfaces: EFA interfaces of one node that reach it over EFA; 0 without.
        repository: the cluster's own ECR repository of the container image, or None.
        image: container image of the jobs, of that repository or of another.
        container: what the container of one node gets.
        failed_boot_limit: how many nodes may fail to boot before no more are launched.
        failed_boot_hours: in how many hours these nodes are counted.
        update_timeout_minutes: how long running jobs may go on when the compute environment's
            infrastructure changes; does not matter with a Capacity Block.
        decisions: every choice with its reason.
        findings: what may be wrong.
    """

    spec: ClusterSpec
    account: str | None
    region: str
    zone: Zone
    instance: InstanceType
    profile: InterfaceProfile
    interfaces: tuple[NetworkInterface, ...]
    capacity: CapacityPlan
    ami: AmiPlan
    network: NetworkPlan
    devices: Mapping[str, int]
    lustre: LustrePlan | None
    lustre_efa_interfaces: int
    repository: RepositoryPlan | None
    image: ImagePlan
    container: ContainerPlan
    failed_boot_limit: int
    failed_boot_hours: int
    update_timeout_minutes: int
    decisions: tuple[Decision, ...]
    findings: tuple[Finding, ...]

    @property
    def lustre_mount(self) -> LustreMount | None:
        """What the nodes know of the file system, or None when there is none."""
        if not self.lustre:
            return None
        return LustreMount(
            name=self.lustre.name,
            path=self.lustre.spec.mount,
            efa_interfaces=self.lustre_efa_interfaces,
        )

    @property
    def prerequisites_stack_name(self) -> str:
        """Name of the stack that checks what must exist before the cluster's other stacks."""
        return stack_name(self.spec.short_name, "Prerequisites")

    @property
    def addresses_per_node(self) -> int:
        """Private addresses that one node takes: its own, and the job's awsvpc interface."""
        return addresses_per_node(self.interfaces)

    @property
    def addresses(self) -> int:
        """Private addresses that the largest cluster takes."""
        return self.spec.instance.nodes.max * self.addresses_per_node


def addresses_per_node(interfaces: tuple[NetworkInterface, ...]) -> int:
    """Count the private addresses of a node whose job adds an awsvpc interface."""
    return sum(row.kind.takes_ip for row in interfaces) + 1


def make_plan(
    spec: ClusterSpec, *, account: str | None = None, region: str | None = None
) -> ClusterPlan:
    """Resolve a cluster description against the catalogue.

    Args:
        spec: what was asked.
        account: AWS account of the environment; the spec's own wins.
        region: AWS region of the environment; the spec's own wins.

    Raises:
        SpecError: with every contradiction found, not only the first.
    """
    notes = Notes(spec)
    region = _region(notes, region)
    instance = _instance(notes, region)
    zone = plan_zone(notes, region, instance)
    network = plan_network(notes, zone)
    lustre = plan_lustre(notes, network.name, zone, instance)
    capacity = plan_capacity(notes, instance)
    decide_security(notes, region)
    if not instance:
        raise SpecError(notes.problems)
    profile = spec.instance.interfaces or InterfaceProfile.BATCH_MNP
    interfaces = plan_interfaces(instance, profile)
    notes.decide(
        "interfaces",
        profile,
        "as asked"
        if spec.instance.interfaces
        else "the layout made for multi-node jobs of AWS Batch",
    )
    _check_task_slot(notes, instance, interfaces)
    devices = node_devices(instance, interfaces)
    notes.decide(
        "devices",
        ", ".join(f"{count} {kind}" for kind, count in devices.items()),
        "a node on which one is missing, or does not answer, takes no job",
    )
    lustre_efa_interfaces = plan_lustre_efa(notes, lustre, instance, interfaces)
    ami = plan_ami(notes, instance, region)
    root_gib = f"{spec.instance.root_gib} GiB, encrypted gp3"
    notes.decide("root volume", root_gib, origin(spec.instance, "root_gib"))
    container = plan_container(notes, instance, devices)
    image = plan_image(notes)
    decide_job_access(notes)
    storage_interfaces = lustre.interfaces if lustre else 0
    check_addresses(notes, network, addresses_per_node(interfaces), storage_interfaces)
    decide_job(notes, container)
    tags = ", ".join(f"{key}={value}" for key, value in resource_tags([spec]).items())
    notes.decide("tags", tags, "on what takes tags, unless a change of them would replace it")
    update_timeout = _update_timeout(notes, capacity)
    if notes.problems or not (region and zone and ami):
        raise SpecError(notes.problems)
    return ClusterPlan(
        spec=spec,
        account=spec.account or account,
        region=region,
        zone=zone,
        instance=instance,
        profile=profile,
        interfaces=interfaces,
        capacity=capacity,
        ami=ami,
        network=network,
        devices=devices,
        lustre=lustre,
        lustre_efa_interfaces=lustre_efa_interfaces,
        repository=plan_repository(spec),
        image=image,
        container=container,
        failed_boot_limit=_failed_boot_limit(notes),
        failed_boot_hours=_FAILED_BOOT_HOURS,
        update_timeout_minutes=update_timeout,
        decisions=tuple(notes.decisions),
        findings=tuple(notes.findings),
    )


def _region(notes: Notes, region: str | None) -> str | None:
    asked = notes.spec.region or region
    if problem := region_problem(asked):
        notes.problem("region", problem)
        return None
    notes.decide("region", asked, "as asked" if notes.spec.region else "the environment's")
    return asked


def _instance(notes: Notes, region: str | None) -> InstanceType | None:
    asked = notes.spec.instance
    try:
        instance = catalogue.lookup(asked.type)
    except UnknownName as error:
        notes.problem("instance.type", str(error))
        return None
    if asked.nodes.max > 1 and not instance.efa_interfaces_max:
        notes.problem(
            "instance.type",
            f"{instance.name} has no EFA, which a cluster of {asked.nodes.max} nodes needs; set "
            f"nodes.max to 1, or take a type with EFA, for instance "
            f"{_with_efa_like(instance, region)}",
        )
    lifecycle = instance.lifecycle
    if instance.withdrawn:
        notes.warn(
            "TS-LIF-001",
            f"the EC2 API has not listed {instance.name} since {lifecycle.first_missing} (last "
            f"seen {lifecycle.last_seen}): it may not launch",
            f"use {_in_region(lifecycle.replacement or '', region)}",
        )
    return instance


def _in_region(name: str, region: str | None) -> str:
    """Name a type, and where it is offered when that is not in the cluster's region."""
    regions = catalogue.regions_offering(name)
    if region is None or region in regions:
        return name
    return f"{name}, which {region} does not offer (offered in: {', '.join(regions)})"


def _with_efa_like(instance: InstanceType, region: str | None) -> str:
    """Name a type with EFA: of the same family, else of the same maker's accelerators.

    It is one that the region offers, if there is one.
    """
    types = [catalogue.lookup(name) for name in catalogue.all_types()]
    sold = [entry for entry in types if entry.efa_interfaces_max and not entry.withdrawn]
    sold = [e for e in sold if region in catalogue.regions_offering(e.name)] or sold
    related = [entry for entry in sold if entry.accelerator.family is instance.accelerator.family]
    family = [entry for entry in related if entry.family == instance.family]
    return (family or related or sold)[0].name


def _check_task_slot(
    notes: Notes, instance: InstanceType, interfaces: tuple[NetworkInterface, ...]
) -> None:
    used = sum(row.card == 0 for row in interfaces)
    if used >= instance.network_cards[0].slots:
        notes.problem(
            "instance.interfaces",
            f"this profile fills all {used} slots of network card 0 of {instance.name}, so that "
            "the awsvpc interface of a multi-node parallel job has none; use batch-mnp",
        )


def _failed_boot_limit(notes: Notes) -> int:
    """Three are more than an accident; of many nodes, a quarter."""
    limit = max(3, notes.spec.instance.nodes.max // 4)
    notes.decide(
        "failed boots",
        f"{limit} in {_FAILED_BOOT_HOURS} hours",
        "then the compute environment is disabled, rather than to replace nodes for ever",
    )
    return limit


def _update_timeout(notes: Notes, capacity: CapacityPlan) -> int:
    if capacity.kind is CapacityKind.CAPACITY_BLOCK:
        notes.decide(
            "updates",
            "by another environment",
            "AWS's own templates use BEST_FIT for Capacity Blocks, which AWS Batch cannot update: "
            "a change of the nodes (AMI, disk, interfaces, type) ends the jobs that run; they are "
            "tried again on the new nodes while job.attempts allows it",
        )
        return LONGEST_UPDATE_MINUTES
    asked = notes.spec.job.timeout_hours * 60
    minutes = min(asked, LONGEST_UPDATE_MINUTES)
    reason = "as long as a job may run"
    if asked > LONGEST_UPDATE_MINUTES:
        reason = "the longest that AWS Batch takes, though jobs may run longer"
        notes.warn(
            "TS-JOB-001",
            f"jobs may run {notes.spec.job.timeout_hours} hours, but when the compute "
            "environment's infrastructure changes AWS Batch ends them after "
            f"{LONGEST_UPDATE_MINUTES // 60}",
            "deploy such changes while no job runs",
        )
    notes.decide("update time-out", f"{minutes} minutes", reason)
    return minutes

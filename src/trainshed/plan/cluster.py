"""The plan of one cluster."""

from dataclasses import dataclass

from trainshed import catalogue
from trainshed.catalogue import InstanceType
from trainshed.errors import UnknownName, did_you_mean
from trainshed.findings import Finding
from trainshed.interfaces import InterfaceProfile, NetworkInterface, plan_interfaces
from trainshed.plan.ami import AmiPlan, plan_ami
from trainshed.plan.capacity import CapacityPlan, plan_capacity
from trainshed.plan.container import ContainerPlan, plan_container
from trainshed.plan.image import ImagePlan, plan_image
from trainshed.plan.lustre_efa import plan_lustre_efa
from trainshed.plan.network import NetworkPlan, check_addresses, plan_network
from trainshed.plan.notes import Decision, Notes
from trainshed.plan.repository import RepositoryPlan, plan_repository
from trainshed.plan.storage import LustrePlan, plan_lustre
from trainshed.plan.zone import Zone, plan_zone
from trainshed.spec import ClusterSpec, SpecError

# AWS Batch, UpdatePolicy: the longest time that a job may go on during an infrastructure update.
_LONGEST_UPDATE_MINUTES = 7200


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
        ami: machine image.
        network: the VPC.
        lustre: shared file system, or None.
        lustre_efa_interfaces: EFA interfaces of one node that reach it over EFA; 0 without.
        repository: ECR repository of the container image.
        image: which image of it.
        container: what the container of one node gets.
        failed_boot_limit: at how many nodes that failed to boot in three hours no more are
            launched.
        update_timeout_minutes: how long running jobs may go on when the compute environment's
            infrastructure changes.
        decisions: every choice with its reason.
        findings: what is doubtful.
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
    lustre: LustrePlan | None
    lustre_efa_interfaces: int
    repository: RepositoryPlan
    image: ImagePlan
    container: ContainerPlan
    failed_boot_limit: int
    update_timeout_minutes: int
    decisions: tuple[Decision, ...]
    findings: tuple[Finding, ...]

    @property
    def addresses_per_node(self) -> int:
        """Private addresses that one node takes: its own, and the job's awsvpc interface."""
        return addresses_per_node(self.interfaces)

    @property
    def addresses(self) -> int:
        """Private addresses that the largest cluster takes."""
        return self.spec.instance.nodes.max * self.addresses_per_node


def addresses_per_node(interfaces: tuple[NetworkInterface, ...]) -> int:
    """Count the private addresses of a node whose job brings an awsvpc interface."""
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
    instance = _instance(notes)
    zone = plan_zone(notes, region, instance)
    network = plan_network(notes, zone)
    lustre = plan_lustre(notes, network.name, zone, instance)
    capacity = plan_capacity(notes, instance)
    if not instance:
        raise SpecError(notes.problems)
    profile = spec.instance.interfaces or InterfaceProfile.BATCH_MNP
    interfaces = plan_interfaces(instance, profile)
    notes.decide(
        "interfaces",
        profile,
        "as asked" if spec.instance.interfaces else f"made for {spec.orchestrator}",
    )
    _check_task_slot(notes, instance, interfaces)
    lustre_efa_interfaces = plan_lustre_efa(notes, lustre, instance, interfaces)
    ami = plan_ami(notes, instance)
    container = plan_container(notes, instance, interfaces)
    image = plan_image(notes)
    storage_interfaces = lustre.interfaces if lustre else 0
    check_addresses(notes, network, addresses_per_node(interfaces), storage_interfaces)
    update_timeout = _update_timeout(notes)
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
        lustre=lustre,
        lustre_efa_interfaces=lustre_efa_interfaces,
        repository=plan_repository(spec),
        image=image,
        container=container,
        failed_boot_limit=_failed_boot_limit(notes),
        update_timeout_minutes=update_timeout,
        decisions=tuple(notes.decisions),
        findings=tuple(notes.findings),
    )


def _region(notes: Notes, region: str | None) -> str | None:
    asked, known = notes.spec.region or region, catalogue.all_regions()
    if asked is None:
        notes.problem("region", "is not given, and the environment has none (AWS_REGION)")
    elif asked not in known:
        near = did_you_mean(asked, known) or f" (its regions: {', '.join(known)})"
        notes.problem("region", f"{asked!r} is not a region of the catalogue{near}")
        return None
    return asked


def _instance(notes: Notes) -> InstanceType | None:
    asked = notes.spec.instance
    try:
        instance = catalogue.lookup(asked.type)
    except UnknownName as error:
        notes.problem("instance.type", f"{error} (all: trainshed catalogue list)")
        return None
    if asked.nodes.max > 1 and not instance.efa_interfaces_max:
        notes.problem(
            "instance.type",
            f"{instance.name} has no EFA, which a cluster of {asked.nodes.max} nodes needs; set "
            f"nodes.max to 1, or take a type with EFA, for instance {_with_efa_like(instance)}",
        )
    lifecycle = instance.lifecycle
    if instance.withdrawn:
        notes.warn(
            "TS-LIF-001",
            f"the EC2 API has not listed {instance.name} since {lifecycle.first_missing} (last "
            f"seen {lifecycle.last_seen}): it may not launch",
            f"use {lifecycle.replacement}",
        )
    return instance


def _with_efa_like(instance: InstanceType) -> str:
    """Name a type with EFA: of the same family, else of the same maker's accelerators."""
    types = [catalogue.lookup(name) for name in catalogue.all_types()]
    sold = [entry for entry in types if entry.efa_interfaces_max and not entry.withdrawn]
    kin = [entry for entry in sold if entry.accelerator.family is instance.accelerator.family]
    family = [entry for entry in kin if entry.family == instance.family]
    return (family or kin or sold)[0].name


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
    """Three show that it is no accident; of many nodes, a quarter."""
    limit = max(3, notes.spec.instance.nodes.max // 4)
    notes.decide(
        "failed boots",
        f"{limit} in 3 hours",
        "then the compute environment is disabled, rather than to replace nodes for ever",
    )
    return limit


def _update_timeout(notes: Notes) -> int:
    asked = notes.spec.job.timeout_hours * 60
    minutes = min(asked, _LONGEST_UPDATE_MINUTES)
    if asked > _LONGEST_UPDATE_MINUTES:
        notes.warn(
            "TS-JOB-001",
            f"jobs may run {notes.spec.job.timeout_hours} hours, but when the compute "
            "environment's infrastructure changes AWS Batch ends them after "
            f"{_LONGEST_UPDATE_MINUTES // 60}",
            "deploy such changes while no job runs",
        )
    notes.decide("update time-out", f"{minutes} minutes", "as long as a job may run")
    return minutes

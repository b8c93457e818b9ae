"""The plan of one cluster."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trainshed import catalogue
from trainshed.catalogue import AcceleratorFamily, InstanceType
from trainshed.documents.problems import Where
from trainshed.errors import UnknownName
from trainshed.interfaces import InterfaceProfile, NetworkInterface, plan_interfaces
from trainshed.nodes.devices import node_devices
from trainshed.nodes.folders import SPOT, UNFIT
from trainshed.orchestrators import Orchestrator, Traits, part, traits
from trainshed.plan.ami import AmiPlan, plan_ami
from trainshed.plan.capacity import CapacityKind, CapacityPlan, plan_capacity
from trainshed.plan.control_plane import ControlPlanePlan
from trainshed.plan.guard import GuardPlan, plan_guard
from trainshed.plan.job_access import JobAccessPlan, plan_job_access
from trainshed.plan.jobs import JobsPlan, PlannedNode
from trainshed.plan.network import NetworkPlan, check_addresses, plan_network
from trainshed.plan.notes import Decision, Notes
from trainshed.plan.notify import NotifyPlan, plan_notify
from trainshed.plan.region import region_problem
from trainshed.plan.repository import RepositoryPlan, own_repository
from trainshed.plan.reserved_variables import check_variables
from trainshed.plan.root_volume import RootVolumePlan, plan_root_volume
from trainshed.plan.scratch import ScratchPlan, plan_scratch
from trainshed.plan.security import SecurityPlan, plan_security
from trainshed.plan.stack_names import stack_name
from trainshed.plan.storage import BucketPlan, LustrePlan, Mount, StoragePlan, plan_storage
from trainshed.plan.storage.lustre_efa import plan_lustre_efa
from trainshed.plan.zone import Zone, plan_zone
from trainshed.spec import ClusterSpec, FindingsSpec, NodeRange, SpecError, TrainingSpec

_FAILED_BOOT_HOURS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """One cluster with every default resolved.

    Attributes:
        name: the cluster, which is also its compute stack.
        short_name: what it shares is called like this, unless the cluster file names it.
        where: where the values of the cluster file stand, for findings.
        account: AWS account, or None to leave it to the deployment.
        region: AWS region.
        zone: where the nodes are.
        zone_is_asked: the cluster file names the zone.
        nodes: how many are kept while no job runs, and how many there are at most.
        instance: the nodes' type.
        profile: layout of the interfaces.
        interfaces: the network interfaces of one node.
        capacity: how nodes are bought.
        ami: AMI of the nodes.
        root_volume: of each node.
        scratch: space of each node that is lost with it, if it has any.
        network: the VPC.
        devices: how many of each kind a node must have to take jobs, see `node_devices`.
        storages: what its nodes share and mount, in the order in which they mount it.
        lustre_efa_interfaces: EFA interfaces of one node that reach it over EFA; 0 without.
        training: what is trained, if the cluster file says so; nothing of it is deployed.
        failed_boot_limit: how many nodes may fail to boot before no more are launched.
        failed_boot_hours: in how many hours these nodes are counted.
        orchestrator: what starts the jobs.
        jobs: what it needs for that.
        asked_environment: the variables of jobs that the cluster file gives.
        job_access: what jobs may do in AWS.
        own_repository: the ECR repository that the cluster has of its own, or had.
        monitoring: it has a dashboard and alarms, and its nodes send metrics.
        notify: who is told what happens to it, or None for nobody.
        guard: what stops its nodes by itself.
        security: the key, and what roles carry.
        tags: of every resource, `owner` among them.
        findings: what the cluster's owner says about findings.
        decisions: every choice with its reason.
    """

    name: str
    short_name: str
    where: Where
    account: str | None
    region: str
    zone: Zone
    zone_is_asked: bool
    nodes: NodeRange
    instance: InstanceType
    profile: InterfaceProfile
    interfaces: tuple[NetworkInterface, ...]
    capacity: CapacityPlan
    ami: AmiPlan
    root_volume: RootVolumePlan
    scratch: ScratchPlan | None
    network: NetworkPlan
    devices: Mapping[str, int]
    storages: tuple[StoragePlan, ...]
    lustre_efa_interfaces: int
    training: TrainingSpec | None
    failed_boot_limit: int
    failed_boot_hours: int
    orchestrator: Orchestrator
    jobs: JobsPlan
    asked_environment: Mapping[str, str]
    job_access: JobAccessPlan
    own_repository: RepositoryPlan
    monitoring: bool
    notify: NotifyPlan | None
    guard: GuardPlan
    security: SecurityPlan
    tags: Mapping[str, str]
    findings: FindingsSpec
    decisions: tuple[Decision, ...]

    @property
    def lustre(self) -> LustrePlan | None:
        """The Lustre file system, or None when there is none."""
        return _lustre(self.storages)

    @property
    def bucket(self) -> BucketPlan | None:
        """The S3 bucket of `storage.bucket`, or None when there is none."""
        return next((each for each in self.storages if isinstance(each, BucketPlan)), None)

    @property
    def network_storages(self) -> tuple[StoragePlan, ...]:
        """Its storages that are in its network; S3 is in none."""
        return tuple(each for each in self.storages if each.clients_group)

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """What the nodes know of the storage that they mount."""
        return tuple(
            Mount(
                kind=each.kind,
                name=each.name,
                path=each.mount,
                efa_interfaces=self.lustre_efa_interfaces if each is self.lustre else 0,
                further=each.further_parameters,
            )
            for each in self.storages
            if each.mount
        )

    @property
    def repository(self) -> RepositoryPlan | None:
        """The cluster's own ECR repository of the container image, or None."""
        return self.jobs.repository

    @property
    def control_plane(self) -> ControlPlanePlan | None:
        """The control plane of Kubernetes that the cluster's jobs are submitted to, or None."""
        return self.jobs.control_plane

    @property
    def prerequisites_stack_name(self) -> str:
        """Name of the stack that checks what must exist before the cluster's other stacks."""
        return stack_name(self.short_name, "Prerequisites")

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """The types that a node may be of, in order of preference."""
        return (self.instance, *self.capacity.other_types)

    @property
    def vcpus(self) -> int:
        """The vCPUs of the largest cluster."""
        return self.nodes.max * self.instance.vcpus

    @property
    def traits(self) -> Traits:
        """What was known of its orchestrator before anything was planned."""
        return traits(self.orchestrator, spot=self.capacity.kind is CapacityKind.SPOT)

    @property
    def job_addresses(self) -> int:
        """Private addresses that jobs take on each node."""
        return self.traits.job_addresses

    @property
    def job_interface(self) -> bool:
        """A job gets an interface of its own on card 0 of each node."""
        return self.traits.job_interface

    @property
    def services(self) -> tuple[str, ...]:
        """What nodes cannot do without, by the names of the services' endpoints."""
        return self.traits.services

    @property
    def addresses_per_node(self) -> int:
        """Private addresses that one node takes: its own, and those that a job adds."""
        return node_addresses(self.interfaces) + self.job_addresses

    @property
    def addresses(self) -> int:
        """Private addresses that the largest cluster takes."""
        return self.nodes.max * self.addresses_per_node


def node_addresses(interfaces: tuple[NetworkInterface, ...]) -> int:
    """Count the private addresses of a node."""
    return sum(row.kind.takes_ip for row in interfaces)


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
    network = plan_network(notes, region, zone)
    storages = plan_storage(notes, region, network, zone, instance)
    capacity = plan_capacity(notes, instance, region, zone)
    notify = plan_notify(notes, region)
    security = plan_security(notes, region)
    check_variables(notes)
    if not instance:
        raise SpecError(notes.problems)
    of_orchestrator = traits(spec.orchestrator, spot=spec.on_spot)
    profile = spec.instance.interfaces or of_orchestrator.profile
    interfaces = plan_interfaces(instance, profile)
    notes.decide(
        "interfaces",
        profile,
        "as asked" if spec.instance.interfaces else of_orchestrator.profile_reason,
    )
    devices = node_devices(instance, interfaces)
    notes.decide(
        "devices",
        ", ".join(f"{count} {kind}" for kind, count in devices.items()),
        "a node on which one is missing, or does not answer, takes no job",
    )
    lustre_efa_interfaces = plan_lustre_efa(notes, _lustre(storages), instance, interfaces)
    root_volume = plan_root_volume(notes, instance)
    scratch = plan_scratch(notes, instance)
    mounts = {each.kind.value: each.mount for each in storages if each.mount}
    spot = SPOT if capacity.kind is CapacityKind.SPOT else None
    folders = {
        **mounts,
        "scratch": scratch and scratch.path,
        "unfit": UNFIT,
        "spot": spot,
    }
    node = PlannedNode(
        instance=instance,
        interfaces=interfaces,
        devices=devices,
        capacity=capacity,
        folders={name: path for name, path in folders.items() if path},
        network=network,
    )
    jobs: JobsPlan = part(spec.orchestrator, "plan").plan(notes, node)
    ami = plan_ami(notes, instance, region, jobs.control_plane)
    guard = plan_guard(notes, capacity, ami)
    job_access = plan_job_access(notes)
    check_addresses(
        notes,
        network,
        of_node=node_addresses(interfaces),
        of_job=of_orchestrator.job_addresses,
        of_storage=sum(each.interfaces for each in storages),
    )
    tags = {"owner": spec.owner, **spec.tags}
    shown = ", ".join(f"{key}={value}" for key, value in tags.items())
    notes.decide("tags", shown, "on what takes tags, unless a change of them would replace it")
    if notes.problems or not (region and zone and ami):
        raise SpecError(notes.problems)
    return ClusterPlan(
        name=spec.name,
        short_name=spec.short_name,
        where=spec.where,
        account=spec.account or account,
        region=region,
        zone=zone,
        zone_is_asked=spec.zone is not None,
        nodes=_nodes(spec),
        instance=instance,
        profile=profile,
        interfaces=interfaces,
        capacity=capacity,
        ami=ami,
        root_volume=root_volume,
        scratch=scratch,
        network=network,
        devices=devices,
        storages=storages,
        lustre_efa_interfaces=lustre_efa_interfaces,
        training=spec.training,
        failed_boot_limit=_failed_boot_limit(notes),
        failed_boot_hours=_FAILED_BOOT_HOURS,
        orchestrator=spec.orchestrator,
        jobs=jobs,
        asked_environment=spec.job.environment,
        job_access=job_access,
        own_repository=own_repository(spec),
        monitoring=spec.monitoring,
        notify=notify,
        guard=guard,
        security=security,
        tags=tags,
        findings=spec.findings,
        decisions=tuple(notes.decisions),
    )


def _lustre(storages: Iterable[StoragePlan]) -> LustrePlan | None:
    return next((each for each in storages if isinstance(each, LustrePlan)), None)


def _nodes(spec: ClusterSpec) -> NodeRange:
    """Return how many nodes there are: where nodes are kept, all of them at all times."""
    nodes = spec.instance.nodes
    keeps = traits(spec.orchestrator).keeps_nodes
    return NodeRange(min=nodes.max, max=nodes.max) if keeps else nodes


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
    over_tcp = instance.accelerator.family is AcceleratorFamily.NVIDIA
    if asked.nodes.max > 1 and not (instance.efa_interfaces_max or over_tcp):
        notes.problem(
            "instance.type",
            f"{instance.name} has no EFA, and accelerators of {instance.accelerator.family} "
            "reach those of other nodes by EFA only; set nodes.max to 1, or take a type with "
            f"EFA, for instance {catalogue.with_efa_like(instance, region).name}",
        )
    return instance


def _failed_boot_limit(notes: Notes) -> int:
    """Three are more than an accident; of many nodes, a quarter."""
    limit = max(3, notes.spec.instance.nodes.max // 4)
    notes.decide(
        "failed boots",
        f"{limit} in {_FAILED_BOOT_HOURS} hours",
        "then no more nodes are launched, so that failing ones are not replaced forever",
    )
    return limit

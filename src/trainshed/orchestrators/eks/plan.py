"""What Amazon EKS needs to run the jobs of a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass

from trainshed.orchestrators.eks.control_plane import plan_control_plane
from trainshed.orchestrators.eks.max_pods import MaxPods, plan_max_pods
from trainshed.orchestrators.eks.pods import PodPlan, plan_pod
from trainshed.pins.joining import has_bootstrap_script
from trainshed.plan.container_image import ImagePlan, plan_image
from trainshed.plan.control_plane import ControlPlanePlan
from trainshed.plan.jobs import PlannedNode
from trainshed.plan.notes import Notes, origin
from trainshed.plan.repository import RepositoryPlan, plan_repository
from trainshed.spec.job import ContainerJobSpec

# Of the pods of jobs.
SERVICE_ACCOUNT = "jobs"


@dataclass(frozen=True, slots=True, kw_only=True)
class EksPlan:
    """What Amazon EKS needs to run the jobs of a cluster.

    Attributes:
        control_plane: of the cluster, or of several.
        namespace: of its jobs.
        pod: of a job on one node.
        bootstrap_script: nodes join by Canonical's script, and not by nodeadm: their AMIs are on
            Ubuntu.
        max_pods: the most pods of a node, with those of add-ons and device plugins.
        attempts: tries of a job that lost a node.
        timeout_hours: a job that runs longer is ended.
        image: container image of the jobs, of the cluster's own repository or of another.
        repository: the cluster's own ECR repository, or None.
        repair: EKS replaces a node that fails its checks.
    """

    control_plane: ControlPlanePlan
    namespace: str
    pod: PodPlan
    bootstrap_script: bool
    max_pods: MaxPods
    attempts: int
    timeout_hours: int
    image: ImagePlan
    repository: RepositoryPlan | None
    repair: bool

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables of the jobs."""
        return self.pod.environment


def plan(notes: Notes, node: PlannedNode) -> EksPlan:
    """Plan the control plane, the node group and the pods.

    Args:
        notes: for decisions and problems.
        node: what is planned of each.
    """
    nodes = notes.spec.instance.nodes
    if "min" in nodes.model_fields_set and nodes.min != nodes.max:
        notes.problem(
            "instance.nodes.min",
            f"all {nodes.max} nodes of a cluster with orchestrator eks are there all the time; "
            "leave min out",
        )
    # The stacks of two clusters of one name collide, so no other cluster has it.
    namespace = notes.spec.short_name
    # Those of Kubernetes, and by convention those of controllers, as Kueue's is.
    if namespace == "default" or namespace.startswith("kube-") or namespace.endswith("-system"):
        notes.problem(
            "name",
            f"{notes.spec.name} gives the namespace {namespace}, which is for Kubernetes or what "
            "extends it; call the cluster something else",
        )
    control_plane = plan_control_plane(notes, node.network)
    family = node.instance.accelerator.family
    bootstrap_script = has_bootstrap_script(family, control_plane.version.name)
    if bootstrap_script:
        notes.decide(
            "nodes join by",
            "/etc/eks/bootstrap.sh",
            f"AMIs for {family} are on Ubuntu, which has no nodeadm",
        )
    max_pods = plan_max_pods(node)
    if max_pods.expression:
        counts = " or ".join(map(str, dict.fromkeys(max_pods.counts.values())))
        notes.decide(
            "most pods of a node",
            f"{counts}: {max_pods.expression}",
            "efa-only interfaces have no addresses",
        )
    if node.capacity.max_price is not None:
        # CreateNodegroup has no price, and refuses a launch template that asks for Spot.
        notes.problem(
            "capacity.spot.max_price",
            "is for orchestrator ec2: managed node groups of EKS take no price, and their nodes "
            "cost at most what they do on demand; leave it out",
        )
    if node.capacity.reservation_group:
        # EKS user guide, "Create a managed node group with Capacity Blocks for ML".
        notes.problem(
            "capacity.capacity_block",
            "is a resource group; EKS rejects a node group whose launch template does not have the "
            "id of one Capacity Block (cr-...)",
        )
    repair = node.capacity.target is None
    notes.decide(
        "node repair",
        "by EKS" if repair else "none",
        "it replaces a node that fails its checks"
        if repair
        else "it would replace a node that fails its checks, and the reservation may have no other",
    )
    job = notes.spec.section(ContainerJobSpec)
    notes.decide("job attempts", job.attempts, origin(job, "attempts"))
    notes.decide("job time-out", f"{job.timeout_hours} hours", origin(job, "timeout_hours"))
    return EksPlan(
        control_plane=control_plane,
        namespace=namespace,
        pod=plan_pod(notes, node, max_pods=max_pods.counts),
        bootstrap_script=bootstrap_script,
        max_pods=max_pods,
        attempts=job.attempts,
        timeout_hours=job.timeout_hours,
        image=plan_image(notes),
        repository=plan_repository(notes.spec),
        repair=repair,
    )

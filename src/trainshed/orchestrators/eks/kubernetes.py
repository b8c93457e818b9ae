"""What Kubernetes is to have for a cluster of Amazon EKS: its objects, and its nodes."""

from trainshed.kubernetes.job_template import JobPodPlan
from trainshed.kubernetes.nodes import NodesPlan
from trainshed.kubernetes.objects import ObjectsPlan
from trainshed.orchestrators.eks.access_groups import groups_in
from trainshed.orchestrators.eks.plan import SERVICE_ACCOUNT, EksPlan
from trainshed.orchestrators.eks.pods import EFA_RESOURCE
from trainshed.orchestrators.eks.traits import AccessPolicy
from trainshed.plan import ClusterPlan


def planned_objects(plan: ClusterPlan) -> ObjectsPlan:
    """Return what the objects of a cluster follow from."""
    eks = _eks(plan)
    charts = eks.control_plane.lock.charts if eks.control_plane.lock else {}
    return ObjectsPlan(
        cluster=plan.name,
        region=plan.region,
        namespace=eks.namespace,
        service_account=SERVICE_ACCOUNT,
        accelerator=eks.pod.taint,
        efa=EFA_RESOURCE in eks.pod.resources,
        shared={each.kind.value: each.path for each in plan.mounts},
        editors=groups_in(eks.namespace, AccessPolicy.EDIT, AccessPolicy.ADMIN),
        viewers=groups_in(eks.namespace, AccessPolicy.VIEW),
        nodes=plan.nodes.max,
        job=JobPodPlan(
            image=_image(eks),
            resources=eks.pod.resources,
            shared_memory_mib=eks.pod.shared_memory_mib,
            environment=eks.pod.environment,
            folders=eks.pod.folders,
            attempts=eks.attempts,
            timeout_seconds=eks.timeout_hours * 3600,
        ),
        charts={name: f"{each.version} {each.digest}" for name, each in charts.items()},
    )


def planned_nodes(plan: ClusterPlan) -> NodesPlan:
    """Return what is planned of a cluster's nodes, as Kubernetes counts it."""
    eks = _eks(plan)
    pod = eks.pod
    devices = {pod.taint, EFA_RESOURCE}
    return NodesPlan(
        cluster=plan.name,
        count=plan.nodes.max,
        zone=plan.zone.name,
        kubernetes=eks.control_plane.version.name,
        devices={name: count for name, count in pod.resources.items() if name in devices},
        sizes={name: size for name, size in pod.resources.items() if name not in devices},
        max_pods=eks.max_pods.counts,
        taint=pod.taint,
    )


def _image(eks: EksPlan) -> str:
    """Return the image without its registry, which the account is part of: a submission has it."""
    if not eks.repository:
        return eks.image.uri or ""
    return f"{eks.repository.name}{'@' if eks.image.digest else ':'}{eks.image.tag_or_digest}"


def _eks(plan: ClusterPlan) -> EksPlan:
    eks = plan.jobs
    assert isinstance(eks, EksPlan)
    return eks

"""What Kubernetes is to have for a cluster of Amazon EKS."""

from trainshed.kubernetes.nodes import NodesPlan
from trainshed.orchestrators.eks.plan import EksPlan
from trainshed.orchestrators.eks.pods import EFA_RESOURCE
from trainshed.plan import ClusterPlan


def planned_nodes(plan: ClusterPlan) -> NodesPlan:
    """Return what is planned of a cluster's nodes, as Kubernetes counts it."""
    eks = plan.jobs
    assert isinstance(eks, EksPlan)
    pod = eks.pod
    devices = {pod.taint, EFA_RESOURCE}
    return NodesPlan(
        cluster=plan.name,
        count=plan.nodes.max,
        instance_type=plan.instance.name,
        zone=plan.zone.name,
        devices={name: count for name, count in pod.resources.items() if name in devices},
        sizes={name: size for name, size in pod.resources.items() if name not in devices},
        taint=pod.taint,
    )


def namespace(plan: ClusterPlan) -> str:
    """Return the namespace of a cluster's jobs."""
    eks = plan.jobs
    assert isinstance(eks, EksPlan)
    return eks.namespace

"""Jobs on Amazon EKS: not submitted by trainshed yet."""

from collections.abc import Mapping

from trainshed.aws import Region
from trainshed.jobs.scheduler import Scheduler, UnseenJobs

# Of a cluster's stack; without one of these, it is not that of a cluster.
OUTPUTS = frozenset({"EksCluster", "Namespace", "NodeGroup"})


def connect(region: Region, cluster: str, outputs: Mapping[str, str]) -> Scheduler:
    """Say that jobs are submitted by other means.

    Raises:
        UnseenJobs: always.
    """
    raise UnseenJobs(
        f"trainshed does not run or list jobs on Amazon EKS yet, those of {cluster} neither; use "
        f"kubectl: trainshed kube config {cluster}; kubectl get pods -n {outputs['Namespace']}"
    )

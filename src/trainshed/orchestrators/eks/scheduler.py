"""Jobs on Amazon EKS: not submitted by trainshed yet."""

from collections.abc import Mapping

from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.jobs.scheduler import Scheduler

# Of a cluster's stack; without one of these, it is not that of a cluster.
OUTPUTS = frozenset({"EksCluster", "Namespace", "NodeGroup"})


def connect(region: Region, cluster: str, outputs: Mapping[str, str]) -> Scheduler:
    """Say that jobs are submitted by other means.

    Raises:
        Failure: always.
    """
    raise Failure(
        f"trainshed does not run or list jobs on Amazon EKS yet; use kubectl with the cluster "
        f"{outputs['EksCluster']} in {region.name}, and delete the stack with: "
        f"npx cdk destroy {cluster}"
    )

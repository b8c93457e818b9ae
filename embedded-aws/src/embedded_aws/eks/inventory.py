"""What EKS has, in the inventory."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.inventory import Part, lists, row
from embedded_aws.plugins import Row


@lists(Part.JOBS)
def _eks(client: Callable[[str], Any]) -> Iterator[Row]:
    eks = client("eks")
    for name in eks.list_clusters()["clusters"]:
        cluster = eks.describe_cluster(name=name)["cluster"]
        yield row("EKS cluster", name, f"{cluster['status']}, Kubernetes {cluster['version']}")
        for each in eks.list_nodegroups(clusterName=name)["nodegroups"]:
            described = eks.describe_nodegroup(clusterName=name, nodegroupName=each)
            group = described["nodegroup"]
            size = group["scalingConfig"]["desiredSize"]
            yield row("EKS node group", each, f"{group['status']}, {size} nodes of {name}")

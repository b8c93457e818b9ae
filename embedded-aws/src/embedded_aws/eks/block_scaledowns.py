"""Node groups whose Capacity Block ends: EKS scales them down before EC2 ends their instances.

EKS user guide, "Create a managed node group with Capacity Blocks for ML": forty minutes before the
end, ten before EC2 begins, to no nodes, so that pods are evicted; and nothing scales them up again.
"Managed node groups": a node that is not drained after 15 minutes is terminated all the same. EKS
does it by a scheduled action of the Auto Scaling group, which is not shown here. From memory: the
sizes of the node group follow those of its Auto Scaling group.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from embedded_aws.actions import Call, Row
from embedded_aws.cloudformation.clients import client
from embedded_aws.ec2 import tables
from embedded_aws.eks.calls import guard
from embedded_aws.eks.drains import drain_first
from embedded_aws.eks.node_machines import Machine
from embedded_aws.eks.nodegroup_resources import end_node, scaling_group_of, template_of
from embedded_aws.eks.tables import nodegroups, of_cluster

_BEFORE_END = timedelta(minutes=40)


class BlockScaledowns:
    """Scales down the node groups of one cluster.

    Args:
        call: in whose account and region.
        cluster: it.
    """

    def __init__(self, call: Call, cluster: Row) -> None:
        self._call = call
        self._cluster = cluster
        # Node groups by ARN, each with the block.
        self._done: set[tuple[str, str]] = set()

    def look(self, machines: Mapping[str, Machine]) -> None:
        """Begin to scale down the groups whose block ends soon.

        Args:
            machines: of the nodes of the cluster, by instance.
        """
        with guard:
            for group in of_cluster(nodegroups(self._call), self._cluster["name"]):
                if group["capacityType"] == "CAPACITY_BLOCK" and not group["refusal"]:
                    self._look_at_group(group, machines)

    def _look_at_group(self, group: Row, machines: Mapping[str, Machine]) -> None:
        wanted = template_of(self._call, group)["CapacityReservationSpecification"]
        block_id = wanted["CapacityReservationTarget"]["CapacityReservationId"]
        block = tables.capacity_reservations(self._call).get(block_id)
        key = group["nodegroupArn"], block_id
        if key in self._done or block is None:
            return
        if datetime.now(UTC) < block["EndDate"] - _BEFORE_END:
            return
        self._done.add(key)
        group["scalingConfig"] = {**group["scalingConfig"], "minSize": 0, "desiredSize": 0}
        name = scaling_group_of(group)
        autoscaling = client("autoscaling", account=self._call.account, region=self._call.region)
        own = [
            each
            for each, machine in machines.items()
            if machine.group["nodegroupArn"] == group["nodegroupArn"]
        ]
        # Nodes stay until they are drained.
        sizes = {"MinSize": 0, **({} if own else {"DesiredCapacity": 0})}
        autoscaling.update_auto_scaling_group(AutoScalingGroupName=name, **sizes)
        left = set(own)
        for instance_id in own:
            drain_first(self._cluster, instance_id, self._ending(name, instance_id, left))

    def _ending(self, name: str, instance_id: str, left: set[str]) -> Callable[[bool], None]:
        """Return what ends a node that is drained, or is not in time.

        Args:
            name: of the Auto Scaling group.
            instance_id: of the node.
            left: the nodes of the group that are not ended yet.
        """
        autoscaling = client("autoscaling", account=self._call.account, region=self._call.region)

        def end(_: bool) -> None:
            left.discard(instance_id)
            end_node(self._call, instance_id, shrinks=True)
            if not left:
                autoscaling.update_auto_scaling_group(AutoScalingGroupName=name, DesiredCapacity=0)

        return end

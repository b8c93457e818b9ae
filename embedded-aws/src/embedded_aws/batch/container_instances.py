"""Instances of AWS Batch as container instances of ECS, which users may drain.

ECS developer guide, "Draining Amazon ECS container instances": one that is DRAINING gets no new
task, and those that run go on. "Deregistering an Amazon ECS container instance": one whose instance
is terminated is deregistered. Inferred: the id of a container instance is that of its instance;
AWS makes one of its own.
"""

from typing import Any

from moto.ecs.models import ecs_backends

from embedded_aws.actions import Call
from embedded_aws.hooks import when_instance_ended


def register(call: Call, cluster: str, instance: Any) -> None:
    """Have moto's instance join an ECS cluster.

    Args:
        call: in whose account and region.
        cluster: ARN of the cluster.
        instance: moto's.
    """
    backend = call.backend("ecs")
    made = backend.register_container_instance(cluster, instance.id)
    members = backend.container_instances[cluster.rpartition("/")[2]]
    members[instance.id] = members.pop(made.id)
    made.id = instance.id


def is_active(call: Call, cluster: str, instance: Any) -> bool:
    """Whether moto's instance has joined, and nobody has set it to DRAINING or deregistered it."""
    members = call.backend("ecs").container_instances.get(cluster.rpartition("/")[2], {})
    found = members.get(instance.id)
    return found is not None and found.status == "ACTIVE"


@when_instance_ended
def _deregister(instance: Any) -> None:
    backend = instance.ec2_backend
    ecs = ecs_backends[backend.account_id][backend.region_name]
    for name, members in ecs.container_instances.items():
        if members.pop(instance.id, None) and name in ecs.clusters:
            ecs.clusters[name].registered_container_instances_count -= 1

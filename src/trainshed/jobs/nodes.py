"""The nodes of a cluster that run now, as EC2 has them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainshed.account.tags import BOOT_TAG, CLUSTER_TAG, DRAINED_TAG
from trainshed.aws import Region
from trainshed.errors import TrainshedError

NO_TAGS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node that runs.

    Attributes:
        instance_id: of the instance.
        address: private IPv4 address of the instance.
        addresses: those of all its interfaces; a job of AWS Batch has one of its own.
        boot: what its tag says about its boot; empty while it says nothing.
        on_spot: EC2 may take it back.
        drained: somebody has marked it, so that it takes no more jobs of plain EC2 nodes.
        reservation: id of the Capacity Reservation or Capacity Block that it is in; empty without.
    """

    instance_id: str
    address: str
    addresses: tuple[str, ...]
    boot: str
    on_spot: bool
    drained: bool
    reservation: str


def running_nodes(
    region: Region, cluster: str, tags: Mapping[str, str] = NO_TAGS
) -> tuple[Node, ...]:
    """Return the nodes of a cluster that run, the oldest first.

    Args:
        region: the cluster's.
        cluster: its name.
        tags: that they must have, too.
    """
    wanted = {f"tag:{name}": value for name, value in {CLUSTER_TAG: cluster, **tags}.items()}
    filters = [
        {"Name": name, "Values": [value]}
        for name, value in {**wanted, "instance-state-name": "running"}.items()
    ]
    found = [
        instance
        for reservation in region.pages(
            "ec2", "describe_instances", "Reservations", Filters=filters
        )
        for instance in reservation["Instances"]
    ]
    return tuple(
        _node(each)
        for each in sorted(found, key=lambda node: (node["LaunchTime"], node["PrivateIpAddress"]))
    )


def _node(instance: Mapping[str, Any]) -> Node:
    tags = {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
    return Node(
        instance_id=instance["InstanceId"],
        address=instance["PrivateIpAddress"],
        addresses=tuple(
            address["PrivateIpAddress"]
            for interface in instance["NetworkInterfaces"]
            for address in interface.get("PrivateIpAddresses", ())
        ),
        boot=tags.get(BOOT_TAG, ""),
        on_spot=instance.get("InstanceLifecycle") == "spot",
        drained=DRAINED_TAG in tags,
        reservation=instance.get("CapacityReservationId", ""),
    )


def pick_node(nodes: tuple[Node, ...], wanted: str) -> Node:
    """Return the node with a place in the list, an instance id, or an address.

    Raises:
        TrainshedError: there is none.
    """
    for index, node in enumerate(nodes):
        if wanted in (str(index), node.instance_id, node.address, *node.addresses):
            return node
    there = ", ".join(f"{index} ({node.instance_id})" for index, node in enumerate(nodes))
    raise TrainshedError(f"node {wanted}: there is no such node; those that run: {there or 'none'}")

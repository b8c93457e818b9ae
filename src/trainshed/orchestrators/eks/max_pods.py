"""How many pods a node takes: what nodeadm is told, and what it makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from trainshed.interfaces import InterfaceKind
from trainshed.plan.jobs import PlannedNode


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxPods:
    """The most pods of a node.

    Attributes:
        counts: how many the kubelet announces, by the node's instance type.
        expression: nodeadm's `maxPodsExpression`; None where its default is right.
    """

    counts: Mapping[str, int]
    expression: str | None


def plan_max_pods(node: PlannedNode) -> MaxPods:
    """Count the addresses that pods can have.

    By default nodeadm counts all interfaces that card 0 takes, each without its first address, and
    two pods in the network of the node (amazon-eks-ami, nodeadm's documentation, "Defining a Max
    Pods Expression"). One that is `efa-only` takes a slot there and has no addresses: the VPC CNI
    leaves it out, and the kubelet announces more pods than there are addresses, which then hang
    (amazon-vpc-cni-k8s; inferred from both sources).
    """
    taken = sum(row.card == 0 and row.kind is InterfaceKind.EFA_ONLY for row in node.interfaces)
    return MaxPods(
        counts={
            each.name: (each.network_cards[0].slots - taken)
            * (each.ipv4_addresses_per_interface - 1)
            + 2
            for each in node.types
        },
        expression=f"((default_enis - {taken}) * (ips_per_eni - 1)) + 2" if taken else None,
    )

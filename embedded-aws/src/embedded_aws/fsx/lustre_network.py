"""What FSx refuses about the network of a Lustre file system.

Documented: one subnet; the security groups are of its VPC; they allow Lustre on TCP 988 ("The file
system cannot be created because the default security group in the subnet provided or the provided
security groups do not permit Lustre LNET network traffic on port 988"); for EFA they allow all
traffic to and from themselves, named by group id ("Insufficient security group permissions to
create an EFA-enabled file system"). Inferred: that FSx looks for 988 in both directions, between
the file servers themselves, that is from and to one of the groups or a range that holds the subnet.
"""

from collections.abc import Iterable
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.fsx.networks import Network, invalid_network, network_of

_LNET_PORT = 988


def lustre_network(call: Call) -> Network:
    """Return the network of a new Lustre file system.

    Raises:
        Refusal: InvalidNetworkSettings.
    """
    network = network_of(call, "Lustre")
    directions = network.ingress, network.egress
    if not all(network.permits(rules, _LNET_PORT) for rules in directions):
        raise invalid_network(
            "The file system cannot be created because the default security group in the subnet "
            "provided or the provided security groups do not permit Lustre LNET network traffic "
            f"on port {_LNET_PORT}"
        )
    efa = call.params.get("LustreConfiguration", {}).get("EfaEnabled")
    if efa and not all(_permits_efa(rules, network.group_ids) for rules in directions):
        raise invalid_network(
            "Insufficient security group permissions to create an EFA-enabled file system: a "
            "security group must allow all traffic from and to itself, by its own id."
        )
    return network


def _permits_efa(rules: Iterable[Any], group_ids: set[str]) -> bool:
    return any(
        rule.ip_protocol == "-1"
        and rule.source_group.get("GroupId") == rule.group_id
        and rule.group_id in group_ids
        for rule in rules
    )

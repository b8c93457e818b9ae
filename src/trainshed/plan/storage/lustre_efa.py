"""How many EFA interfaces of a node carry traffic to an EFA-enabled Lustre file system."""

from collections.abc import Sequence

from trainshed.catalogue import InstanceType
from trainshed.interfaces import NetworkInterface
from trainshed.plan.notes import Notes
from trainshed.plan.storage.lustre import LustrePlan

# FSx for Lustre user guide, "Configuring EFA clients", step 4: each interface of each client counts
# as one connection.
CONNECTIONS_MAX = 1024


def plan_lustre_efa(
    notes: Notes,
    lustre: LustrePlan | None,
    instance: InstanceType,
    interfaces: Sequence[NetworkInterface],
) -> int:
    """Choose the number of EFA interfaces of one node that Lustre uses; 0 when it uses none.

    It is AWS's own number for the type. A cluster that is so large that its nodes together would
    make more connections than the file system takes uses fewer on each.
    """
    if lustre is None or not lustre.efa:
        return 0
    present = sum(row.kind.has_efa for row in interfaces)
    usual = min(instance.lustre_efa_interfaces, present)
    nodes = notes.spec.instance.nodes.max
    # A spec has at most 1000 nodes, so that at least one is left.
    chosen = min(usual, CONNECTIONS_MAX // nodes)
    reason = "as AWS's set-up of EFA clients does for this type"
    if chosen < usual:
        reason = (
            f"not {usual}: {nodes} nodes may make {CONNECTIONS_MAX} connections to the file system"
        )
    notes.decide("Lustre over EFA", f"{chosen} of {present} EFA interfaces", reason)
    return chosen

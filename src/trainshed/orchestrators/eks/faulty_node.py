"""A node whose accelerator EKS's agent finds faulty between jobs: EKS repairs it.

Nothing of the agent runs on an embedded AWS, so a rehearsal writes the condition that it would.
"""

from trainshed.catalogue import AcceleratorFamily, lookup
from trainshed.errors import TrainshedError
from trainshed.kubernetes.client import connect
from trainshed.kubernetes.cluster import find_cluster
from trainshed.kubernetes.node_conditions import report_problem
from trainshed.kubernetes.nodes import find_nodes
from trainshed.orchestrators.eks.noticed import has_devices, node_group, wait_for_nodes
from trainshed.rehearse.faults import FaultKind, Scene

# EKS user guide, "Detect node health issues with the EKS node monitoring agent": of the reasons for
# which EKS replaces a node, one of each maker whose accelerators the agent knows.
_CONDITION = "AcceleratedHardwareReady"
_REASONS = {
    AcceleratorFamily.NVIDIA: "NvidiaXID79Error",
    AcceleratorFamily.NEURON: "NeuronHBMUncorrectableError",
}


def fail_a_node_between_jobs(scene: Scene) -> None:
    """Have EKS's agent find an accelerator of a node faulty, and wait until EKS has replaced it.

    Args:
        scene: in which it is to happen.

    Raises:
        TrainshedError: EKS repairs no nodes of the cluster, or its agent does not know their
            accelerators.
        Failure: the other node has not come in time.
    """
    group = node_group(scene)
    if not group.get("nodeRepairConfig", {}).get("enabled"):
        raise TrainshedError(
            f"--fault {FaultKind.UNFIT_NODE}: EKS repairs no nodes of {scene.cluster}, which are "
            "in a reservation or a Capacity Block; leave capacity out of its file for this "
            "rehearsal, or leave the fault out"
        )
    eks = find_cluster(scene.region, scene.outputs["EksCluster"])
    with connect(eks) as client:
        [bad, *_] = find_nodes(client, eks, scene.cluster)
        report_problem(
            client,
            eks,
            bad.name,
            condition=_CONDITION,
            reason=agents_reason(scene.cluster, bad.instance_type),
            message="a rehearsal says so in place of the node monitoring agent",
        )
    wanted = group["scalingConfig"]["desiredSize"]
    wait_for_nodes(
        scene,
        lambda nodes: (
            len(nodes) == wanted
            and all(each.ready and has_devices(each) for each in nodes)
            and bad.instance_id not in {each.instance_id for each in nodes}
        ),
    )


def agents_reason(cluster: str, instance_type: str) -> str:
    """Return for which reason EKS's agent finds an accelerator faulty.

    Args:
        cluster: name of the cluster.
        instance_type: of the node.

    Raises:
        TrainshedError: the agent does not know such accelerators.
    """
    family = lookup(instance_type).accelerator.family
    if reason := _REASONS.get(family):
        return reason
    raise TrainshedError(
        f"--fault {FaultKind.UNFIT_NODE}: EKS's node monitoring agent knows no {family} "
        f"accelerators, which {cluster} has: a node that lost one stays until a job finds out; "
        "leave the fault out, and rehearse --fault lost-device"
    )

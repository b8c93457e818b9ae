"""Which instances of a node group are nodes, and what is wrong with the others.

API reference, Issue: the codes. User guide, "Managed node group error codes". As others have seen
it (containers-roadmap, issue 2204; autoscaler, issue 4811): EC2's code stands before its words.
From memory: the other words. Inferred: which of EC2's errors is which code.
"""

from embedded_aws.actions import Call, Refusal, Row
from embedded_aws.autoscaling.group import groups
from embedded_aws.cloudformation.clients import client
from embedded_aws.eks import roles
from embedded_aws.eks.access_entries import entry_for
from embedded_aws.eks.node_joining import OwnAmi, why_not
from embedded_aws.eks.nodegroup_resources import scaling_group_of, template_of
from embedded_aws.eks.tables import addons, cluster_of, of_cluster

WITHOUT_NETWORK = "container runtime network not ready: cni plugin not initialized"
_NODE_TYPES = ("EC2_LINUX", "EC2")
# States of an add-on that is in its cluster.
_INSTALLED = ("CREATING", "ACTIVE", "UPDATING", "UPDATE_FAILED", "DEGRADED")
# Parts of EC2's messages about launches, and EKS's codes for them.
_CODES = {
    "Insufficient free addresses": "InsufficientFreeAddresses",
    "vCPU capacity": "InstanceLimitExceeded",
    "instance limit": "InstanceLimitExceeded",
}


def registered_of(call: Call, group: Row) -> list[str]:
    """Return the ids of a node group's instances that register a node of its cluster."""
    return [] if _why_nobody_joins(call, group) else _in_service(call, group)


def nodes_of(call: Call, group: Row) -> list[str]:
    """Return the ids of a node group's instances whose nodes take pods."""
    ready = not _why_not_ready(call, cluster_of(call, group["clusterName"]))
    return registered_of(call, group) if ready else []


def have_arrived(call: Call, group: Row) -> bool:
    """Whether all nodes of a group are ready, where its cluster has an API server."""
    ready = cluster_of(call, group["clusterName"]).get("ready")
    return ready is None or set(nodes_of(call, group)) <= ready


def _why_not_ready(call: Call, cluster: Row) -> str | None:
    """Return why nodes of a cluster take no pods, or None.

    Kubernetes, "Network Plugins": a node without one is not ready. EKS API reference,
    CreateCluster: the VPC CNI is in a new cluster, unless it says otherwise.
    """
    if cluster["selfManagedAddons"] or any(
        row["addonName"] == "vpc-cni" and row["status"] in _INSTALLED
        for row in of_cluster(addons(call), cluster["name"])
    ):
        return None
    return WITHOUT_NETWORK


def issues_of(call: Call, group: Row) -> list[Row]:
    """Return what is wrong with a node group that has not all of its nodes."""
    wanted, there = group["scalingConfig"]["desiredSize"], _in_service(call, group)
    cluster = cluster_of(call, group["clusterName"])
    issues = []
    if refusal := group["refusal"]:
        template = [group["copyName"]]
        issues.append(_issue("Ec2LaunchTemplateInvalidConfiguration", refusal, template))
    elif len(there) < wanted and (reason := _failed_launch(call, group)):
        codes = [code for part, code in _CODES.items() if part in reason]
        kind = "Spot" if group["capacityType"] == "SPOT" else "On-Demand"
        refused_by = groups(call)[scaling_group_of(group)].refused_by
        message = f"Could not launch {kind} Instances. {refused_by} - {reason}"
        code = next(iter(codes), "AsgInstanceLaunchFailures")
        issues.append(_issue(code, message, [scaling_group_of(group)]))
    if there and (why := _why_nobody_joins(call, group)):
        message = f"Instances failed to join the kubernetes cluster: {why}"
        issues.append(_issue("NodeCreationFailure", message, there))
    elif not set(there) <= cluster.get("ready", set()) and (why := _why_not_ready(call, cluster)):
        message = f"Unhealthy nodes in the kubernetes cluster: {why}"
        issues.append(_issue("NodeCreationFailure", message, there))
    return issues


def _why_nobody_joins(call: Call, group: Row) -> str | None:
    cluster, role = cluster_of(call, group["clusterName"]), group["nodeRole"]
    if roles.role_of(call, role) is None:
        return f"the node role {role} does not exist"
    if missing := roles.missing_of_nodes(call, role):
        return f"the node role is not allowed to perform {', '.join(missing)}"
    if cluster["accessConfig"]["authenticationMode"] != "CONFIG_MAP":
        entry = entry_for(call, cluster["name"], role)
        if entry is None or entry["type"] not in _NODE_TYPES:
            return f"the node role {role} has no access entry of the type EC2_LINUX"
    try:
        template = template_of(call, group)
    except Refusal as error:
        return error.message
    return why_not(cluster, template, _own_ami(call, group, template))


def _own_ami(call: Call, group: Row, template: Row) -> OwnAmi | None:
    if group["amiType"] != "CUSTOM":
        return None
    ami = call.backend("ec2").amis.get(template["ImageId"])
    return OwnAmi(
        name=getattr(ami, "name", None) or "",
        may_ask_eks=lambda: roles.may_describe_clusters(call, group["nodeRole"]),
    )


def _in_service(call: Call, group: Row) -> list[str]:
    autoscaling = client("autoscaling", account=call.account, region=call.region)
    found = autoscaling.describe_auto_scaling_groups(
        AutoScalingGroupNames=[scaling_group_of(group)]
    )
    return [
        each["InstanceId"]
        for there in found["AutoScalingGroups"]
        for each in there["Instances"]
        if each["LifecycleState"] in ("InService", "Pending")
    ]


def _failed_launch(call: Call, group: Row) -> str | None:
    """Return why the newest launch failed, if it did."""
    autoscaling = client("autoscaling", account=call.account, region=call.region)
    found = autoscaling.describe_scaling_activities(AutoScalingGroupName=scaling_group_of(group))
    newest: Row = next(iter(found["Activities"]), {})
    return newest.get("StatusMessage") if newest.get("StatusCode") == "Failed" else None


def _issue(code: str, message: str, ids: list[str]) -> Row:
    return {"code": code, "message": message, "resourceIds": ids}

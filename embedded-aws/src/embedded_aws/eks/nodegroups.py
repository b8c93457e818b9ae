"""Managed node groups: created, described, deleted.

API reference: what a node group has. User guide, "Create a managed node group": node role, subnets
of the cluster's VPC, versions. Terraform's logs in public: a healthy group takes one and a half to
three minutes. Inferred: one whose nodes do not join fails after 15 minutes; that its nodes are not
waited for in a Capacity Block (user guide: EKS does not check that they join).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError
from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row
from embedded_aws.ec2.subnets import subnet_of
from embedded_aws.eks import nodegroup_resources, nodegroup_templates, roles
from embedded_aws.eks.access_entries import add_entry, entry_for
from embedded_aws.eks.calls import answers, in_use, invalid, invalid_request, later, not_found, page
from embedded_aws.eks.nodegroup_health import have_arrived, issues_of, nodes_of
from embedded_aws.eks.nodegroup_settings import check_settings, sizes_of
from embedded_aws.eks.quotas import GROUPS, NODES, check_quota
from embedded_aws.eks.tables import access_entries, cluster_of, nodegroups, of_cluster

_READY_SECONDS, _FAILED_SECONDS, _DELETION_SECONDS = 120, 900, 120
_LOOK_SECONDS = 60
_SERVICE = "eks-nodegroup.amazonaws.com"
_HIDDEN = ("copyName", "copyVersion", "madeEntry", "refusal", "instanceType")
_SETTINGS = ("labels", "taints", "nodeRepairConfig", "warmPoolConfig")


@answers("CreateNodegroup")
def create_nodegroup(call: Call) -> dict[str, Any]:
    """Create a node group; it becomes ACTIVE once its nodes have joined."""
    given, cluster = call.params, cluster_of(call, call.params["clusterName"])
    name = given["nodegroupName"]
    if cluster["status"] != "ACTIVE":
        raise invalid_request(f"Cluster '{cluster['name']}' is not in ACTIVE status")
    if any(row["nodegroupName"] == name for row in of_cluster(nodegroups(call), cluster["name"])):
        raise in_use(
            f"NodeGroup already exists with name {name} and cluster name {cluster['name']}"
        )
    check_quota(call, GROUPS, len(of_cluster(nodegroups(call), cluster["name"])) + 1)
    check_settings(given)
    check_quota(call, NODES, sizes_of(given.get("scalingConfig", {}))["maxSize"])
    roles.check_trust(call, given["nodeRole"], roles.NODES)
    roles.check_passable(call, given["nodeRole"], roles.CLUSTER)
    _check_subnets(call, cluster, given["subnets"])
    template, shown = nodegroup_templates.user_template(call, given.get("launchTemplate"))
    nodegroup_templates.check_template(given, template, named=shown is not None)
    types = nodegroup_templates.instance_types_of(given, template)
    ami_type = nodegroup_templates.ami_type_of(given, template, types)
    arn = call.arn("eks", f"nodegroup/{cluster['name']}/{name}/{mock_random.uuid4()}")
    now = datetime.now(UTC)
    group: Row = {
        "nodegroupName": name,
        "nodegroupArn": arn,
        "clusterName": cluster["name"],
        "createdAt": now,
        "modifiedAt": now,
        "status": "CREATING",
        "capacityType": given.get("capacityType", "ON_DEMAND"),
        "scalingConfig": sizes_of(given.get("scalingConfig", {})),
        "subnets": given["subnets"],
        "amiType": ami_type,
        "nodeRole": given["nodeRole"],
        "resources": {"autoScalingGroups": [{"name": f"eks-{name}-{mock_random.uuid4()}"}]},
        "health": {"issues": []},
        "updateConfig": given.get("updateConfig") or {"maxUnavailable": 1},
        "tags": dict(given.get("tags", {})),
        **{key: given[key] for key in _SETTINGS if key in given},
        **_versions(cluster, given, template),
        **({"launchTemplate": shown} if shown else {"diskSize": given.get("diskSize", 20)}),
        "copyName": nodegroup_resources.new_name(),
        "copyVersion": "1",
        "instanceType": types[0],
        "madeEntry": False,
        "refusal": "",
    }
    if "InstanceType" not in template:
        group["instanceTypes"] = types
    nodegroups(call)[arn] = group
    roles.make_service_role(call, _SERVICE, "AWSServiceRoleForAmazonEKSNodegroup")
    _make(call, group, cluster, template)
    later(_READY_SECONDS, lambda: _settle(call, group))
    return {"nodegroup": described(call, group)}


@answers("DescribeNodegroup")
def describe_nodegroup(call: Call) -> dict[str, Any]:
    """Describe a node group."""
    return {"nodegroup": described(call, found(call))}


@answers("ListNodegroups")
def list_nodegroups(call: Call) -> dict[str, Any]:
    """List the names of a cluster's node groups."""
    cluster = cluster_of(call, call.params["clusterName"])["name"]
    names = [row["nodegroupName"] for row in of_cluster(nodegroups(call), cluster)]
    return page(call, "nodegroups", sorted(names))


@answers("DeleteNodegroup")
def delete_nodegroup(call: Call) -> dict[str, Any]:
    """Delete a node group, with its instances; it is gone later."""
    group = found(call)
    if group["status"] in ("DELETING", "UPDATING"):
        raise in_use(f"Nodegroup {group['nodegroupName']} is {group['status']}")
    group["status"] = "DELETING"
    later(_DELETION_SECONDS, lambda: _finish_deletion(call, group))
    return {"nodegroup": described(call, group)}


def found(call: Call) -> Row:
    """Return the node group that a call names.

    Raises:
        Refusal: there is none of that name.
    """
    cluster = cluster_of(call, call.params["clusterName"])["name"]
    name = call.params["nodegroupName"]
    for row in of_cluster(nodegroups(call), cluster):
        if row["nodegroupName"] == name:
            return row
    raise not_found(f"No node group found for name: {name}.")


def described(call: Call, group: Row) -> Row:
    """Return a node group as DescribeNodegroup shows it, with what its health is now."""
    row = {key: value for key, value in group.items() if key not in _HIDDEN}
    if group["status"] == "ACTIVE" and (issues := issues_of(call, group)):
        return {**row, "status": "DEGRADED", "health": {"issues": issues}}
    return row


def _check_subnets(call: Call, cluster: Row, subnet_ids: list[str]) -> None:
    for each in subnet_ids:
        try:
            subnet = subnet_of(call, each)
        except Refusal as error:
            raise invalid(error.message) from error
        if subnet.vpc_id != cluster["resourcesVpcConfig"]["vpcId"]:
            raise invalid(f"Subnet {each} does not belong to the VPC of the cluster")


def _versions(cluster: Row, given: Mapping[str, Any], template: Row) -> Row:
    """Return the versions of a node group.

    API reference, Nodegroup: with an AMI in the launch template, the release version is that AMI.
    eksctl ends with a panic where it is missing.

    Raises:
        Refusal: nodes are not newer than their cluster.
    """
    if "ImageId" in template:
        return {"releaseVersion": template["ImageId"]}
    version = given.get("version", cluster["version"])
    numbers = [tuple(map(int, each.split("."))) for each in (version, cluster["version"])]
    if numbers[0] > numbers[1]:
        raise invalid(
            f"Requested Kubernetes version {version} of nodegroup is newer than the cluster's "
            f"{cluster['version']}"
        )
    return {"version": version, "releaseVersion": given.get("releaseVersion", f"{version}.0")}


def _make(call: Call, group: Row, cluster: Row, template: Row) -> None:
    """Make what belongs to a node group; what is refused there shows in its health."""
    role = group["nodeRole"]
    access = cluster["accessConfig"]["authenticationMode"] != "CONFIG_MAP"
    if access and entry_for(call, cluster["name"], role) is None:
        add_entry(call, cluster, role, kind="EC2_LINUX")
        group["madeEntry"] = True
    name = group["copyName"]
    nodegroup_resources.make_profile(call, name, role)
    data = nodegroup_templates.copy_of(
        call, group, cluster, template, instance_type=group["instanceType"], profile=name
    )
    try:
        nodegroup_resources.put_template(call, name, group, data)
        nodegroup_resources.make_scaling_group(call, group)
    except ClientError as error:
        group["refusal"] = error.response["Error"]["Message"]


def _settle(call: Call, group: Row, waited: float = _READY_SECONDS) -> None:
    """Make a node group active whose nodes are ready; look again later, or give up.

    Args:
        call: in whose account and region.
        group: the node group.
        waited: seconds of AWS's since its creation.
    """
    if group["status"] != "CREATING":
        return
    waited_for = 0 if group["capacityType"] == "CAPACITY_BLOCK" else _wanted(group)
    if not group["refusal"] and len(nodes_of(call, group)) >= waited_for:
        if have_arrived(call, group):
            group["status"] = "ACTIVE"
        else:
            # That takes its time, however fast AWS's times pass.
            later(_LOOK_SECONDS, lambda: _settle(call, group, waited))
    elif waited < _FAILED_SECONDS:
        later(_LOOK_SECONDS, lambda: _settle(call, group, waited + _LOOK_SECONDS))
    else:
        group["status"] = "CREATE_FAILED"
        group["health"] = {"issues": issues_of(call, group)}


def _wanted(group: Row) -> int:
    return int(group["scalingConfig"]["desiredSize"])


def _finish_deletion(call: Call, group: Row) -> None:
    nodegroup_resources.remove(call, group)
    del nodegroups(call)[group["nodegroupArn"]]
    others = of_cluster(nodegroups(call), group["clusterName"])
    entry = entry_for(call, group["clusterName"], group["nodeRole"])
    still = any(other["nodeRole"] == group["nodeRole"] for other in others)
    if group["madeEntry"] and entry and not still:
        del access_entries(call)[entry["accessEntryArn"]]

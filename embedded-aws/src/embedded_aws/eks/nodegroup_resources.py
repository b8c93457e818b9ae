"""What EKS makes for a managed node group: instance profile, launch template, Auto Scaling group.

EKS user guide, "Simplify node lifecycle with managed node groups": an Auto Scaling group, called
eks-NODEGROUP-UUID, and its tags; instance types in their order on demand, and by the strategy
`price-capacity-optimized` with Capacity Rebalancing on Spot. "View metrics for Amazon EC2 Auto
Scaling groups": the group sends its metrics. AWSServiceRoleForAmazonEKSNodegroup, as AWS publishes
its policy: that EKS makes an instance profile and a launch template called eks-UUID, too. All are
made by the ordinary APIs. Inferred: only a group of several types has a mixed instances policy.
"""

from collections.abc import Mapping
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row
from embedded_aws.autoscaling.group import groups
from embedded_aws.cloudformation.clients import client
from embedded_aws.cloudformation.handlers.tags import tag_list
from embedded_aws.ec2.launch_templates import template_data
from embedded_aws.eks.tables import cluster_of


def new_name() -> str:
    """Return the name of a node group's instance profile and launch template."""
    return f"eks-{mock_random.uuid4()}"


def make_profile(call: Call, name: str, role: str) -> None:
    """Make the instance profile of a node role."""
    iam = client("iam", account=call.account, region=call.region)
    iam.create_instance_profile(InstanceProfileName=name)
    role_name = role.rpartition("/")[2]
    iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=role_name)


def put_template(call: Call, name: str, group: Row, data: Mapping[str, Any]) -> str:
    """Make the copy of the launch template, or a version of it, and return the version's number."""
    ec2 = client("ec2", account=call.account, region=call.region)
    tags = _tags(group)
    given = {**data, "TagSpecifications": _with_tags(data.get("TagSpecifications", []), tags)}
    if name in call.backend("ec2").launch_template_name_to_ids:
        made = ec2.create_launch_template_version(LaunchTemplateName=name, LaunchTemplateData=given)
        return str(made["LaunchTemplateVersion"]["VersionNumber"])
    tagged = [{"ResourceType": "launch-template", "Tags": tag_list(tags)}]
    ec2.create_launch_template(
        LaunchTemplateName=name, LaunchTemplateData=given, TagSpecifications=tagged
    )
    return "1"


def make_scaling_group(call: Call, group: Row) -> None:
    """Make the Auto Scaling group, which launches at once."""
    cluster, sizes = group["clusterName"], group["scalingConfig"]
    tags = {
        **_tags(group),
        "k8s.io/cluster-autoscaler/enabled": "true",
        f"k8s.io/cluster-autoscaler/{cluster}": "owned",
        f"kubernetes.io/cluster/{cluster}": "owned",
    }
    name = scaling_group_of(group)
    autoscaling = client("autoscaling", account=call.account, region=call.region)
    autoscaling.create_auto_scaling_group(
        AutoScalingGroupName=name,
        **launched_from(group, "1"),
        MinSize=sizes["minSize"],
        MaxSize=sizes["maxSize"],
        DesiredCapacity=sizes["desiredSize"],
        VPCZoneIdentifier=",".join(group["subnets"]),
        CapacityRebalance=group["capacityType"] == "SPOT",
        Tags=[
            {"Key": key, "Value": value, "PropagateAtLaunch": True} for key, value in tags.items()
        ],
    )
    autoscaling.enable_metrics_collection(AutoScalingGroupName=name, Granularity="1Minute")
    # Nothing drains the nodes of a cluster without an API server.
    made = groups(call)[name]
    made.drains = "ready" in cluster_of(call, cluster)


def launched_from(group: Row, version: str) -> Row:
    """Return what of its Auto Scaling group says from what a node group launches.

    Args:
        group: the node group.
        version: number of the version of the copy of its launch template.
    """
    template = {"LaunchTemplateName": group["copyName"], "Version": version}
    types = group.get("instanceTypes", ())
    if len(types) < 2:
        return {"LaunchTemplate": template}
    spot = group["capacityType"] == "SPOT"
    distribution = {
        "OnDemandAllocationStrategy": "prioritized",
        "OnDemandPercentageAboveBaseCapacity": 0 if spot else 100,
        **({"SpotAllocationStrategy": "price-capacity-optimized"} if spot else {}),
    }
    return {
        "MixedInstancesPolicy": {
            "LaunchTemplate": {
                "LaunchTemplateSpecification": template,
                "Overrides": [{"InstanceType": each} for each in types],
            },
            "InstancesDistribution": distribution,
        }
    }


def scaling_group_of(group: Row) -> str:
    """Return the name of a node group's Auto Scaling group."""
    return str(group["resources"]["autoScalingGroups"][0]["name"])


def end_node(call: Call, instance_id: str, *, shrinks: bool) -> None:
    """Have the Auto Scaling group of a node terminate it, unless it is gone.

    Args:
        call: in whose account and region.
        instance_id: of the node.
        shrinks: no other one takes its place.
    """
    autoscaling = client("autoscaling", account=call.account, region=call.region)
    found = autoscaling.describe_auto_scaling_instances(InstanceIds=[instance_id])
    if found["AutoScalingInstances"]:
        autoscaling.terminate_instance_in_auto_scaling_group(
            InstanceId=instance_id, ShouldDecrementDesiredCapacity=shrinks
        )


def template_of(call: Call, group: Row) -> Row:
    """Return the data of the launch template from which a node group launches now."""
    return template_data(
        call, {"LaunchTemplateName": group["copyName"], "Version": group["copyVersion"]}
    )


def remove(call: Call, group: Row) -> None:
    """Remove what was made for a node group, as far as it is there."""
    names = {"AutoScalingGroupNames": [scaling_group_of(group)]}
    autoscaling = client("autoscaling", account=call.account, region=call.region)
    for each in autoscaling.describe_auto_scaling_groups(**names)["AutoScalingGroups"]:
        autoscaling.delete_auto_scaling_group(
            AutoScalingGroupName=each["AutoScalingGroupName"], ForceDelete=True
        )
    if group["copyName"] in call.backend("ec2").launch_template_name_to_ids:
        ec2 = client("ec2", account=call.account, region=call.region)
        ec2.delete_launch_template(LaunchTemplateName=group["copyName"])
    if group["copyName"] in call.backend("iam").instance_profiles:
        call.backend("iam").delete_instance_profile(group["copyName"], ignore_attached_roles=True)


def _tags(group: Row) -> dict[str, str]:
    return {
        "eks:cluster-name": group["clusterName"],
        "eks:nodegroup-name": group["nodegroupName"],
    }


def _with_tags(specifications: list[Row], tags: Mapping[str, str]) -> list[Row]:
    """Return tag specifications with tags for instances and volumes in addition."""
    by_type = {each["ResourceType"]: each.get("Tags", []) for each in specifications}
    for kind in ("instance", "volume"):
        by_type[kind] = [*by_type.get(kind, []), *tag_list(tags)]
    return [{"ResourceType": kind, "Tags": given} for kind, given in by_type.items()]

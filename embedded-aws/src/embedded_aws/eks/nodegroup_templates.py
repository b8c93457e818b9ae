"""The launch template of a node group: what EKS refuses in it, and the copy that EKS launches from.

API reference, CreateNodegroup and LaunchTemplateSpecification; user guide, "Customize managed nodes
with launch templates", "Create a managed node group with Capacity Blocks for ML": what must be in a
template, what must not, and what the request must leave to it. From memory: the words. Inferred:
the AMI type when none is given, which is that of x86 without accelerators (API reference: whoever
wants a GPU type names it). AMIs are those of Amazon Linux 2023.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from embedded_aws.actions import Call, Refusal, Row
from embedded_aws.ec2.instance_types import require
from embedded_aws.ec2.launch_templates import template_data
from embedded_aws.eks.calls import invalid, unsupported

_DEFAULT_TYPE, _DEFAULT_AMI = "t3.medium", "AL2023_x86_64_STANDARD"
_DISK_GIB = 20
# API reference, CreateNodegroup: 0 to 20.
_MOST_TYPES = 20
_AMIS = {
    "AL2023_x86_64_STANDARD": "x86_64/standard",
    "AL2023_x86_64_NVIDIA": "x86_64/nvidia",
    "AL2023_x86_64_NEURON": "x86_64/neuron",
    "AL2023_ARM_64_STANDARD": "arm64/standard",
    "AL2023_ARM_64_NVIDIA": "arm64/nvidia",
}
_BANNED = {
    "IamInstanceProfile": "an instance profile. The noderole in your request will be used to "
    "construct an instance profile",
    "HibernationOptions": "hibernation",
    "InstanceInitiatedShutdownBehavior": "a shutdown behavior",
}


def user_template(call: Call, specification: Mapping[str, Any] | None) -> tuple[Row, Row | None]:
    """Return a template's data and its specification with id, name and number; empty for none.

    Raises:
        Refusal: there is no such template.
    """
    if not specification:
        return {}, None
    if ("id" in specification) == ("name" in specification):
        raise invalid("Either provide launch template ID or launch template name")
    ec2 = call.backend("ec2")
    named = {
        "LaunchTemplateId": specification.get("id"),
        "LaunchTemplateName": specification.get("name"),
        "Version": specification.get("version"),
    }
    try:
        data = template_data(call, named)
    except Refusal as error:
        raise invalid(error.message) from error
    template_id = (
        named["LaunchTemplateId"] or ec2.launch_template_name_to_ids[specification["name"]]
    )
    template = ec2.launch_templates[template_id]
    number = next(each.number for each in template.versions if each.data is data)
    return data, {"id": template_id, "name": template.name, "version": str(number)}


def check_template(given: Mapping[str, Any], template: Row, *, named: bool) -> None:
    """Refuse a template that EKS does not take, and what the request must leave to it.

    Args:
        given: the request.
        template: the data of its launch template.
        named: it names one.

    Raises:
        Refusal: InvalidParameterException.
    """
    for name, what in _BANNED.items():
        if template.get(name):
            raise invalid(f"Launch template should not specify {what}.")
    for interface in template.get("NetworkInterfaces", []):
        if "SubnetId" in interface:
            raise invalid("Launch template should not specify a subnet in network interfaces.")
    market = template.get("InstanceMarketOptions", {}).get("MarketType")
    if market == "spot":
        raise invalid("Launch template should not request Spot Instances; use capacityType SPOT.")
    if named and given.get("diskSize"):
        raise invalid("Disk size must be specified within the launch template.")
    if named and given.get("remoteAccess"):
        raise invalid("Remote access configuration cannot be specified with a launch template.")
    if template.get("InstanceType") and given.get("instanceTypes"):
        raise invalid(
            "Instance type cannot be specified in both the launch template and the request."
        )
    _check_ami(given, template)
    if given.get("capacityType") == "CAPACITY_BLOCK":
        _check_block(given, template)
    elif market == "capacity-block":
        raise invalid("A launch template for a Capacity Block needs capacityType CAPACITY_BLOCK.")


def instance_types_of(given: Mapping[str, Any], template: Row) -> list[str]:
    """Return the instance types of a node group, in their order.

    Raises:
        Refusal: one of them does not exist, or they are too many.
    """
    types = given.get("instanceTypes") or [template.get("InstanceType", _DEFAULT_TYPE)]
    if len(types) > _MOST_TYPES:
        raise invalid(f"A node group has at most {_MOST_TYPES} instance types.")
    try:
        for each in types:
            require(each)
    except Refusal as error:
        raise invalid(error.message) from error
    return [str(each) for each in types]


def ami_type_of(given: Mapping[str, Any], template: Row, types: Sequence[str]) -> str:
    """Return the AMI type of a node group.

    Raises:
        Refusal: an instance type does not run it, or the embedded AWS does not have it.
    """
    if template.get("ImageId"):
        return "CUSTOM"
    asked = given.get("amiType", _DEFAULT_AMI)
    if asked.startswith("AL2_"):
        raise invalid(f"Requested amiType {asked} is not supported since Kubernetes 1.33")
    if asked not in _AMIS:
        raise unsupported(f"the AMI type {asked}")
    architecture = _AMIS[asked].partition("/")[0]
    if others := [
        each
        for each in types
        if architecture not in require(each)["ProcessorInfo"]["SupportedArchitectures"]
    ]:
        listed = ", ".join(others)
        raise invalid(f"[{listed}] is not a valid instance type for requested amiType {asked}")
    return str(asked)


def copy_of(
    call: Call, group: Row, cluster: Row, template: Row, *, instance_type: str, profile: str
) -> Row:
    """Return the data of the copy from which EKS launches.

    Args:
        call: in whose account and region.
        group: the node group.
        cluster: its cluster.
        template: the data of the user's template.
        instance_type: of the nodes, or the first of several.
        profile: name of the instance profile with the node role.
    """
    data = {
        **template,
        "InstanceType": instance_type,
        "IamInstanceProfile": {"Name": profile},
    }
    if not template.get("NetworkInterfaces") and not template.get("SecurityGroupIds"):
        data["SecurityGroupIds"] = [cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]]
    if group["amiType"] != "CUSTOM":
        path = f"{group['version']}/amazon-linux-2023/{_AMIS[group['amiType']]}"
        name = f"/aws/service/eks/optimized-ami/{path}/recommended/image_id"
        data["ImageId"] = call.backend("ssm").get_parameters([name])[name].value
        data["UserData"] = _with_node_config(cluster, template.get("UserData"))
    elif template.get("UserData"):
        data["UserData"] = str(template["UserData"])
    else:
        data.pop("UserData", None)  # where there is none, moto has the key with None
    # That of several types says in its Auto Scaling group how they are bought.
    if group["capacityType"] == "SPOT" and len(group.get("instanceTypes", ())) < 2:
        data["InstanceMarketOptions"] = {"MarketType": "spot"}
    if not template.get("BlockDeviceMappings") and "diskSize" in group:
        volume = {"VolumeSize": group["diskSize"], "VolumeType": "gp3"}
        data["BlockDeviceMappings"] = [{"DeviceName": "/dev/xvda", "Ebs": volume}]
    return data


def _check_ami(given: Mapping[str, Any], template: Row) -> None:
    asked = given.get("amiType", "CUSTOM")
    if not template.get("ImageId"):
        if given.get("amiType") == "CUSTOM":
            raise invalid(
                "You must specify an image id within the launch template if AMI type is CUSTOM."
            )
        return
    if asked != "CUSTOM":
        raise invalid(
            "You cannot specify an AMI Type other than CUSTOM, when specifying an image id in your "
            "launch template."
        )
    for name, called in (("version", "kubernetesVersion"), ("releaseVersion", "releaseVersion")):
        if given.get(name):
            raise invalid(f"You cannot specify the field {called} when using custom AMIs.")
    if given.get("warmPoolConfig", {}).get("enabled"):
        raise invalid("Warm pools are not supported with custom AMIs.")


def _check_block(given: Mapping[str, Any], template: Row) -> None:
    """Refuse a node group for a Capacity Block whose template does not lead to one."""
    market = template.get("InstanceMarketOptions", {}).get("MarketType")
    reservation = template.get("CapacityReservationSpecification", {})
    # EKS user guide, "Create a managed node group with Capacity Blocks for ML": not a group's ARN.
    block = reservation.get("CapacityReservationTarget", {}).get("CapacityReservationId")
    for there, what in (
        (template.get("InstanceType"), "InstanceType"),
        (market == "capacity-block", "InstanceMarketOptions with MarketType capacity-block"),
        (block, "CapacityReservationTarget with CapacityReservationId"),
    ):
        if not there:
            raise invalid(f"Launch template must specify {what} for capacityType CAPACITY_BLOCK.")
    if len(given["subnets"]) != 1:
        raise invalid("Exactly one subnet must be specified for capacityType CAPACITY_BLOCK.")


def _with_node_config(cluster: Row, user_data: Any) -> str:
    """Return user data with EKS's own part before the user's."""
    block = (
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n"
        f"    name: {cluster['name']}\n"
        f"    apiServerEndpoint: {cluster['endpoint']}\n"
        f"    certificateAuthority: {cluster['certificateAuthority']['data']}\n"
        f"    cidr: {cluster['kubernetesNetworkConfig']['serviceIpv4Cidr']}\n"
    )
    head = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="EKS"\n'
    own = f"\n--EKS\nContent-Type: application/node.eks.aws\n\n{block}"
    given = b64decode(str(user_data)).decode(errors="replace") if user_data else ""
    users = f"\n--EKS\n{given}" if given else ""
    return b64encode(f"{head}{own}{users}\n--EKS--\n".encode()).decode()

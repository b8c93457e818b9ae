"""VPCs, internet gateways and subnets."""

from functools import partial
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, forgiving
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.resource import (
    AttributesOnDemand,
    Made,
    Properties,
    Request,
    resource,
)
from embedded_aws.ec2.resource_types.handler import Ec2Handler, as_attribute


@resource("AWS::EC2::VPC")
class Vpc(Ec2Handler):
    """A VPC; its Ref is the VPC's id."""

    kind = "vpc"
    target = "VpcId"
    creation = "CreateVpc", "Vpc.VpcId"
    reading = "DescribeVpcs", "Vpcs"
    deletion = "DeleteVpc"
    changing = "ModifyVpcTenancy"
    defaults = {"InstanceTenancy": "default"}
    settings = {
        "EnableDnsSupport": Setting(put="ModifyVpcAttribute", neutral=True, reshape=as_attribute),
        "EnableDnsHostnames": Setting(
            put="ModifyVpcAttribute", neutral=False, reshape=as_attribute
        ),
    }
    later = tuple(settings)

    def _made(self, request: Request, physical_id: str) -> Made:
        # Templates refer to the ranges that a VPCCidrBlock adds after the VPC was created.
        read = partial(super()._made, request, physical_id)
        attributes = AttributesOnDemand(lambda name: read().attributes[name])
        return Made(physical_id=physical_id, attributes=attributes)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        ec2 = request.client("ec2")
        vpc = self._described(request, physical_id)
        of_vpc = [{"Name": "vpc-id", "Values": [physical_id]}]
        group = {"Name": "group-name", "Values": ["default"]}
        acls = ec2.describe_network_acls(Filters=of_vpc)["NetworkAcls"]
        groups = ec2.describe_security_groups(Filters=[*of_vpc, group])["SecurityGroups"]
        ipv6 = vpc.get("Ipv6CidrBlockAssociationSet", [])
        return {
            "CidrBlock": vpc["CidrBlock"],
            "CidrBlockAssociations": [
                association["AssociationId"] for association in vpc["CidrBlockAssociationSet"]
            ],
            "DefaultNetworkAcl": next(acl["NetworkAclId"] for acl in acls if acl["IsDefault"]),
            "DefaultSecurityGroup": groups[0]["GroupId"],
            "Ipv6CidrBlocks": [association["Ipv6CidrBlock"] for association in ipv6],
        }


@resource("AWS::EC2::InternetGateway")
class InternetGateway(Ec2Handler):
    """An internet gateway; its Ref is the gateway's id."""

    kind = "internet-gateway"
    target = "InternetGatewayId"
    creation = "CreateInternetGateway", "InternetGateway.InternetGatewayId"
    deletion = "DeleteInternetGateway"


@resource("AWS::EC2::VPCGatewayAttachment")
class VpcGatewayAttachment(Handler):
    """The attachment of an internet or VPN gateway to a VPC; its Ref is `IGW|vpc-...`."""

    service = "ec2"

    def _create(self, request: Request) -> str:
        self._attach(request)
        kind = "IGW" if "InternetGatewayId" in request.properties else "VGW"
        return f"{kind}|{request.properties['VpcId']}"

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, "InternetGatewayId", "VpnGatewayId"):
            self._detach(request, before)
            self._attach(request)

    def _attach(self, request: Request) -> None:
        self._call(request, f"Attach{_kind(request.properties)}Gateway", request.properties)

    def _detach(self, request: Request, properties: Properties) -> None:
        with forgiving():
            self._call(request, f"Detach{_kind(properties)}Gateway", properties)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"AttachmentType": physical_id.partition("|")[0]}

    def _delete(self, request: Request, physical_id: str) -> None:
        self._detach(request, request.properties)


def _kind(properties: Properties) -> str:
    return "Internet" if "InternetGatewayId" in properties else "Vpn"


@resource("AWS::EC2::Subnet")
class VpcSubnet(Ec2Handler):
    """A subnet; its Ref is the subnet's id."""

    kind = "subnet"
    target = "SubnetId"
    creation = "CreateSubnet", "Subnet.SubnetId"
    reading = "DescribeSubnets", "Subnets"
    deletion = "DeleteSubnet"
    fixed = ("Ipv6CidrBlock",)

    settings = dict.fromkeys(
        ("MapPublicIpOnLaunch", "AssignIpv6AddressOnCreation", "EnableDns64"),
        Setting(put="ModifySubnetAttribute", neutral=False, reshape=as_attribute),
    )
    later = (*settings, "EnableLniAtDeviceIndex", "PrivateDnsNameOptionsOnLaunch")

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        super()._configure(request, physical_id, before)
        settings: dict[str, Any] = {}
        options = request.properties.get("PrivateDnsNameOptionsOnLaunch", {})
        if "HostnameType" in options:
            settings["PrivateDnsHostnameTypeOnLaunch"] = options["HostnameType"]
        for record in ("EnableResourceNameDnsARecord", "EnableResourceNameDnsAAAARecord"):
            if record in options:
                settings[f"{record}OnLaunch"] = as_attribute(options[record])
        if "EnableLniAtDeviceIndex" in request.properties:
            settings["EnableLniAtDeviceIndex"] = request.properties["EnableLniAtDeviceIndex"]
        for name, value in settings.items():
            self._call(request, "ModifySubnetAttribute", {name: value}, SubnetId=physical_id)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        ec2 = request.client("ec2")
        subnet = self._described(request, physical_id)
        of_subnet = [{"Name": "association.subnet-id", "Values": [physical_id]}]
        acls = ec2.describe_network_acls(Filters=of_subnet)["NetworkAcls"]
        associations = [
            association["NetworkAclAssociationId"]
            for acl in acls
            for association in acl["Associations"]
            if association["SubnetId"] == physical_id
        ]
        ipv6 = subnet.get("Ipv6CidrBlockAssociationSet", [])
        return {
            **super()._attributes(request, physical_id),
            "Ipv6CidrBlocks": [association["Ipv6CidrBlock"] for association in ipv6],
            "NetworkAclAssociationId": next(iter(associations), ""),
            "OutpostArn": subnet.get("OutpostArn", ""),
            "BlockPublicAccessStates": subnet.get("BlockPublicAccessStates", {}),
        }

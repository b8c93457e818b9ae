"""Parts of networks of trainshed, found by their tag."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainshed.account.billed import Billed, Charges
from trainshed.account.tags import CLUSTER_TAG
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion
from trainshed.prices import ENDPOINT_HOUR, NAT_HOUR, PUBLIC_IPV4_HOUR

_TAGGED = [{"Name": "tag-key", "Values": [CLUSTER_TAG]}]
_ENDED = frozenset({"deleted", "deleting"})


def _found(
    what: str,
    described: Mapping[str, Any],
    name: str,
    command: str,
    *,
    size: str = "",
    since: str = "CreateTime",
    charges: Charges = (),
    also_called: str = "",
) -> Candidate:
    tags = {each["Key"]: each["Value"] for each in described["Tags"]}
    return Candidate(
        billed=Billed(
            what=what,
            name=name,
            size=size,
            since=described.get(since),
            charges=charges,
            command=f"aws ec2 {command}",
        ),
        why=f"made for {tags[CLUSTER_TAG]}",
        also_called=also_called,
    )


def _nat_gateways(place: SearchedRegion) -> Iterator[Candidate]:
    for each in place.region.pages("ec2", "describe_nat_gateways", "NatGateways", Filter=_TAGGED):
        if each["State"] not in _ENDED:
            name = each["NatGatewayId"]
            command = (
                f"delete-nat-gateway --nat-gateway-id {name} && "
                f"aws ec2 wait nat-gateway-deleted --nat-gateway-ids {name}"
            )
            yield _found("NAT gateway", each, name, command, charges=((NAT_HOUR, 1),))


def _addresses(place: SearchedRegion) -> Iterator[Candidate]:
    for each in place.region.call("ec2", "describe_addresses", Filters=_TAGGED)["Addresses"]:
        name = each["AllocationId"]
        command = f"release-address --allocation-id {name}"
        address = each["PublicIp"]
        yield _found(
            "Elastic IP",
            each,
            name,
            command,
            size=address,
            charges=((PUBLIC_IPV4_HOUR, 1),),
            # CloudFormation's reference of AWS::EC2::EIP: Ref is the address.
            also_called=address,
        )


def _endpoints(place: SearchedRegion) -> Iterator[Candidate]:
    for each in place.region.pages(
        "ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=_TAGGED
    ):
        if each["State"].lower() not in _ENDED:
            name, interfaces = each["VpcEndpointId"], len(each.get("SubnetIds", ()))
            command = f"delete-vpc-endpoints --vpc-endpoint-ids {name}"
            charges = ((ENDPOINT_HOUR, interfaces),) if interfaces else ()
            yield _found(
                "VPC endpoint",
                each,
                name,
                command,
                size=each["ServiceName"],
                since="CreationTimestamp",
                charges=charges,
            )


def _internet_gateways(place: SearchedRegion) -> Iterator[Candidate]:
    for each in place.region.pages(
        "ec2", "describe_internet_gateways", "InternetGateways", Filters=_TAGGED
    ):
        name = each["InternetGatewayId"]
        detached = "".join(
            f"detach-internet-gateway --internet-gateway-id {name} --vpc-id {vpc['VpcId']} && "
            "aws ec2 "
            for vpc in each.get("Attachments", ())
        )
        command = f"{detached}delete-internet-gateway --internet-gateway-id {name}"
        yield _found("internet gateway", each, name, command)


def _free(
    what: str, operation: str, key: str, id_key: str, command: str, size: str = ""
) -> Callable[[SearchedRegion], Iterator[Candidate]]:
    """Return what finds parts of networks that cost nothing."""

    def find(place: SearchedRegion) -> Iterator[Candidate]:
        for each in place.region.pages("ec2", operation, key, Filters=_TAGGED):
            name = each[id_key]
            yield _found(what, each, name, f"{command} {name}", size=each.get(size, ""))

    return find


# In the order in which they can be deleted.
NETWORK_LOOKS = (
    OrphanSearch(
        at="NAT gateways",
        types=("AWS::EC2::NatGateway",),
        actions=("ec2:DescribeNatGateways",),
        find=_nat_gateways,
    ),
    OrphanSearch(
        at="Elastic IPs",
        types=("AWS::EC2::EIP",),
        actions=("ec2:DescribeAddresses",),
        find=_addresses,
    ),
    OrphanSearch(
        at="VPC endpoints",
        types=("AWS::EC2::VPCEndpoint",),
        actions=("ec2:DescribeVpcEndpoints",),
        find=_endpoints,
    ),
    OrphanSearch(
        at="launch templates",
        types=("AWS::EC2::LaunchTemplate",),
        actions=("ec2:DescribeLaunchTemplates",),
        find=_free(
            "launch template",
            "describe_launch_templates",
            "LaunchTemplates",
            "LaunchTemplateId",
            "delete-launch-template --launch-template-id",
            "LaunchTemplateName",
        ),
    ),
    OrphanSearch(
        at="security groups",
        types=("AWS::EC2::SecurityGroup",),
        actions=("ec2:DescribeSecurityGroups",),
        find=_free(
            "security group",
            "describe_security_groups",
            "SecurityGroups",
            "GroupId",
            "delete-security-group --group-id",
            "GroupName",
        ),
    ),
    OrphanSearch(
        at="subnets",
        types=("AWS::EC2::Subnet",),
        actions=("ec2:DescribeSubnets",),
        find=_free(
            "subnet",
            "describe_subnets",
            "Subnets",
            "SubnetId",
            "delete-subnet --subnet-id",
            "CidrBlock",
        ),
    ),
    OrphanSearch(
        at="internet gateways",
        types=("AWS::EC2::InternetGateway",),
        actions=("ec2:DescribeInternetGateways",),
        find=_internet_gateways,
    ),
    OrphanSearch(
        at="VPCs",
        types=("AWS::EC2::VPC",),
        actions=("ec2:DescribeVpcs",),
        find=_free("VPC", "describe_vpcs", "Vpcs", "VpcId", "delete-vpc --vpc-id", "CidrBlock"),
    ),
)

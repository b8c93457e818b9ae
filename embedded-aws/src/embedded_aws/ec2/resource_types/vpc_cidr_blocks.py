"""Secondary address ranges of VPCs."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.resource import Request, resource


@resource("AWS::EC2::VPCCidrBlock")
class VpcCidrBlock(Handler):
    """A secondary IPv4 range, or Amazon's IPv6 range; its Ref is `vpc-cidr-assoc-...|vpc-...`."""

    service = "ec2"
    # The embedded AWS has neither IPAM nor BYOIP ranges.
    known = ("AmazonProvidedIpv6CidrBlock", "CidrBlock", "VpcId")

    def _create(self, request: Request) -> str:
        reply = self._call(request, "AssociateVpcCidrBlock", request.properties)
        made = reply.get("CidrBlockAssociation") or reply["Ipv6CidrBlockAssociation"]
        return f"{made['AssociationId']}|{request.properties['VpcId']}"

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        ipv6 = {"Ipv6AddressAttribute": "public", "IpSource": "amazon"}
        amazons = request.properties.get("AmazonProvidedIpv6CidrBlock")
        return {"Id": physical_id.partition("|")[0]} | (ipv6 if amazons else {})

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ec2").disassociate_vpc_cidr_block(
            AssociationId=physical_id.partition("|")[0]
        )

"""VPC endpoints and flow logs."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import differences, present
from embedded_aws.cloudformation.resource import HandlerError, Properties, Request, resource
from embedded_aws.ec2.resource_types.handler import Ec2Handler


@resource("AWS::EC2::VPCEndpoint")
class VpcEndpoint(Ec2Handler):
    """A gateway or interface endpoint; its Ref is the endpoint's id."""

    kind = "vpc-endpoint"
    target = "VpcEndpointId"
    creation = "CreateVpcEndpoint", "VpcEndpoint.VpcEndpointId"
    reading = "DescribeVpcEndpoints", "VpcEndpoints"
    deletion = "DeleteVpcEndpoints"

    _lists = ("RouteTableIds", "SubnetIds", "SecurityGroupIds")

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        settings = present(
            request.properties, "PolicyDocument", "PrivateDnsEnabled", "IpAddressType", "DnsOptions"
        )
        change: dict[str, Any] = {}
        if "PolicyDocument" in before and "PolicyDocument" not in settings:
            change["ResetPolicy"] = True
        for name in self._lists:
            gone, new = differences(before.get(name, []), request.properties.get(name, []))
            change |= {f"Add{name}": new} if new else {}
            change |= {f"Remove{name}": gone} if gone else {}
        self._call(request, "ModifyVpcEndpoint", settings, VpcEndpointId=physical_id, **change)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        attributes = {"NetworkInterfaceIds": [], **super()._attributes(request, physical_id)}
        entries = [
            f"{entry.get('HostedZoneId', '')}:{entry['DnsName']}"
            for entry in attributes.get("DnsEntries", [])
        ]
        return {**attributes, "DnsEntries": entries}


@resource("AWS::EC2::FlowLog")
class FlowLog(Ec2Handler):
    """A flow log; its Ref is the flow log's id."""

    kind = "vpc-flow-log"
    target = "FlowLogId"
    deletion = "DeleteFlowLogs"
    later = ("ResourceId",)

    def _create(self, request: Request) -> str:
        ids = [request.properties["ResourceId"]]
        reply = self._call(request, "CreateFlowLogs", self._wanted(request), ResourceIds=ids)
        # CreateFlowLogs answers 200 and lists what it refused.
        for refusal in reply.get("Unsuccessful", []):
            raise HandlerError(refusal["Error"]["Message"], code="InvalidRequest")
        return str(reply["FlowLogIds"][0])

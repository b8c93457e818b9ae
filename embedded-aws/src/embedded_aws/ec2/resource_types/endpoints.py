"""VPC endpoints and flow logs."""

from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import present
from embedded_aws.cloudformation.handlers.tags import tag_specifications
from embedded_aws.cloudformation.resource import (
    HandlerError,
    Properties,
    Request,
    resource,
)
from embedded_aws.ec2.resource_types.handler import Ec2Handler


@resource("AWS::EC2::VPCEndpoint")
class VpcEndpoint(Ec2Handler):
    """A gateway or interface endpoint; its Ref is the endpoint's id."""

    gone = ("InvalidVpcEndpointId.NotFound", "InvalidVpcEndpoint.NotFound")

    _lists = ("RouteTableIds", "SubnetIds", "SecurityGroupIds")

    def _create(self, request: Request) -> str:
        ec2 = request.client("ec2")
        taken = arguments(ec2, "CreateVpcEndpoint", request.properties, leave=("Tags",))
        reply = ec2.create_vpc_endpoint(
            **taken, TagSpecifications=tag_specifications(request, "vpc-endpoint")
        )
        endpoint_id: str = reply["VpcEndpoint"]["VpcEndpointId"]
        return endpoint_id

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        ec2 = request.client("ec2")
        settings = present(
            request.properties, "PolicyDocument", "PrivateDnsEnabled", "IpAddressType", "DnsOptions"
        )
        change = arguments(ec2, "ModifyVpcEndpoint", settings)
        if "PolicyDocument" in before and "PolicyDocument" not in settings:
            change["ResetPolicy"] = True
        for name in self._lists:
            old, new = before.get(name, []), request.properties.get(name, [])
            if added := [item for item in new if item not in old]:
                change[f"Add{name}"] = added
            if removed := [item for item in old if item not in new]:
                change[f"Remove{name}"] = removed
        ec2.modify_vpc_endpoint(VpcEndpointId=physical_id, **change)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("ec2").describe_vpc_endpoints(VpcEndpointIds=[physical_id])
        endpoint = reply["VpcEndpoints"][0]
        return {
            "Id": physical_id,
            "CreationTimestamp": endpoint["CreationTimestamp"].isoformat(),
            "DnsEntries": [
                f"{entry.get('HostedZoneId', '')}:{entry['DnsName']}"
                for entry in endpoint.get("DnsEntries", [])
            ],
            "NetworkInterfaceIds": endpoint.get("NetworkInterfaceIds", []),
        }

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ec2").delete_vpc_endpoints(VpcEndpointIds=[physical_id])


@resource("AWS::EC2::FlowLog")
class FlowLog(Ec2Handler):
    """A flow log; its Ref is the flow log's id."""

    gone = ("InvalidFlowLogId.NotFound",)

    def _create(self, request: Request) -> str:
        ec2 = request.client("ec2")
        taken = arguments(ec2, "CreateFlowLogs", request.properties, leave=("ResourceId", "Tags"))
        reply = ec2.create_flow_logs(
            **taken,
            ResourceIds=[request.properties["ResourceId"]],
            TagSpecifications=tag_specifications(request, "vpc-flow-log"),
        )
        # CreateFlowLogs answers 200 and lists what it refused.
        for refusal in reply.get("Unsuccessful", []):
            raise HandlerError(refusal["Error"]["Message"], code="InvalidRequest")
        flow_log_id: str = reply["FlowLogIds"][0]
        return flow_log_id

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Id": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ec2").delete_flow_logs(FlowLogIds=[physical_id])

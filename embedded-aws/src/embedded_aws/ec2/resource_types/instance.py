"""Single EC2 instances."""

import base64
from collections.abc import Callable, Collection, Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.handler import changed, renamed
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import HandlerError, Properties, Request, resource
from embedded_aws.ec2.resource_types.handler import Ec2Handler

# The names in RunInstances' Placement of a template's flat properties.
_PLACEMENT = {
    "AvailabilityZone": "AvailabilityZone",
    "Affinity": "Affinity",
    "HostId": "HostId",
    "HostResourceGroupArn": "HostResourceGroupArn",
    "PlacementGroupName": "GroupName",
    "Tenancy": "Tenancy",
}
# Properties whose values RunInstances takes in another shape.
_RESHAPED: Mapping[str, Callable[[Any], Any]] = {
    "IamInstanceProfile": lambda name: {"Name": name},
    "Monitoring": lambda enabled: {"Enabled": enabled},
    # A template has base64, and boto3 encodes its input.
    "UserData": lambda text: base64.b64decode(text).decode(),
    "NetworkInterfaces": lambda cards: [renamed(card, GroupSet="Groups") for card in cards],
}


@resource("AWS::EC2::Instance")
class Instance(Ec2Handler):
    """An instance; its Ref is the instance's id."""

    target = "InstanceId"
    reading = "DescribeInstances", "Reservations.Instances"
    deletion = "TerminateInstances"
    attributes = {
        "AvailabilityZone": "Placement.AvailabilityZone",
        "PrivateIp": "PrivateIpAddress",
        "PrivateDnsName": "PrivateDnsName",
        "PublicIp": "PublicIpAddress",
        "PublicDnsName": "PublicDnsName",
        "VpcId": "VpcId",
    }

    _nested = (*_PLACEMENT, *_RESHAPED)
    _later = ("SourceDestCheck", "PropagateTagsToVolumeOnCreation", "Tags")
    _changeable = ("DisableApiTermination", "InstanceType", "SecurityGroupIds", "SourceDestCheck")

    def _create(self, request: Request) -> str:
        properties = request.properties
        leave = (*self._nested, *self._later)
        flat = {name: value for name, value in properties.items() if name not in leave}
        kinds = ["instance"]
        if properties.get("PropagateTagsToVolumeOnCreation", False):
            kinds.append("volume")
        tags = [{"ResourceType": kind, "Tags": tag_list(all_tags(request))} for kind in kinds]
        wanted = {**flat, **self._restructured(properties), "TagSpecifications": tags}
        reply = self._call(request, "RunInstances", wanted, MinCount=1, MaxCount=1)
        instance_id = str(reply["Instances"][0]["InstanceId"])
        if "SourceDestCheck" in properties:
            self._set(request, instance_id, "SourceDestCheck")
        return instance_id

    def _restructured(self, properties: Properties) -> dict[str, Any]:
        """Return the arguments whose shape differs between template and API."""
        placement = {
            member: properties[name] for name, member in _PLACEMENT.items() if name in properties
        }
        nested = {
            name: reshape(properties[name])
            for name, reshape in _RESHAPED.items()
            if name in properties
        }
        return nested | ({"Placement": placement} if placement else {})

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        names = set(request.properties) | set(before)
        moved = {name for name in names if changed(request, before, name)} - {"Tags"}
        if fixed := moved.difference(self._changeable):
            raise HandlerError(
                f"the embedded AWS cannot change {', '.join(sorted(fixed))} of a running instance",
                code="NotUpdatable",
            )
        ec2 = request.client("ec2")
        # EC2 changes the type of a stopped instance only; CloudFormation stops and starts it.
        if stop := "InstanceType" in moved:
            ec2.stop_instances(InstanceIds=[physical_id])
        for name in sorted(moved & set(request.properties)):
            self._set(request, physical_id, name)
        if stop:
            ec2.start_instances(InstanceIds=[physical_id])

    def signallers(self, request: Request, physical_id: str) -> Collection[str]:
        """Return the instance's id."""
        return [physical_id]

    def _set(self, request: Request, instance_id: str, name: str) -> None:
        value = request.properties[name]
        wanted = {"Groups": value} if name == "SecurityGroupIds" else {name: {"Value": value}}
        self._call(request, "ModifyInstanceAttribute", wanted, InstanceId=instance_id)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        attributes = super()._attributes(request, physical_id)
        state = {key: str(value) for key, value in attributes["State"].items()}
        return attributes | {"State": state}

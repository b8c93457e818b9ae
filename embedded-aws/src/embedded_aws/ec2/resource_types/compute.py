"""Placement groups, launch templates and capacity reservations."""

from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import changed, present
from embedded_aws.cloudformation.handlers.names import generated_name, random_suffix
from embedded_aws.cloudformation.handlers.tags import tag_specifications
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.ec2.resource_types.handler import Ec2Handler


@resource("AWS::EC2::PlacementGroup")
class PlacementGroup(Ec2Handler):
    """A placement group; its Ref is the group's name, which a template cannot choose."""

    gone = ("InvalidPlacementGroup.Unknown",)

    def _create(self, request: Request) -> str:
        ec2 = request.client("ec2")
        name = generated_name(request, limit=255)
        taken = arguments(ec2, "CreatePlacementGroup", request.properties, leave=("Tags",))
        ec2.create_placement_group(
            GroupName=name,
            **taken,
            TagSpecifications=tag_specifications(request, "placement-group"),
        )
        return name

    def _taggable_id(self, request: Request, physical_id: str) -> str:
        group_id: str = self._attributes(request, physical_id)["GroupId"]
        return group_id

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("ec2").describe_placement_groups(GroupNames=[physical_id])
        return {"GroupName": physical_id, "GroupId": reply["PlacementGroups"][0]["GroupId"]}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ec2").delete_placement_group(GroupName=physical_id)


@resource("AWS::EC2::LaunchTemplate")
class LaunchTemplate(Ec2Handler):
    """A launch template; its Ref is the template's id.

    A change adds a version and leaves the default where it is: CloudFormation cannot move it
    (AWS::EC2::LaunchTemplate, attribute DefaultVersionNumber).
    """

    gone = ("InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateName.NotFoundException")

    def _create(self, request: Request) -> str:
        ec2 = request.client("ec2")
        name = request.properties.get("LaunchTemplateName")
        taken = arguments(
            ec2,
            "CreateLaunchTemplate",
            request.properties,
            leave=("LaunchTemplateName", "TagSpecifications"),
        )
        reply = ec2.create_launch_template(
            LaunchTemplateName=name or f"{request.logical_id[:115]}_{random_suffix()}",
            **taken,
            TagSpecifications=tag_specifications(request, "launch-template"),
        )
        template_id: str = reply["LaunchTemplate"]["LaunchTemplateId"]
        return template_id

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, "LaunchTemplateData", "VersionDescription"):
            ec2 = request.client("ec2")
            version = present(request.properties, "LaunchTemplateData", "VersionDescription")
            taken = arguments(ec2, "CreateLaunchTemplateVersion", version)
            ec2.create_launch_template_version(LaunchTemplateId=physical_id, **taken)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("ec2").describe_launch_templates(LaunchTemplateIds=[physical_id])
        template = reply["LaunchTemplates"][0]
        return {
            "LaunchTemplateId": physical_id,
            "LatestVersionNumber": str(template["LatestVersionNumber"]),
            "DefaultVersionNumber": str(template["DefaultVersionNumber"]),
        }

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ec2").delete_launch_template(LaunchTemplateId=physical_id)


@resource("AWS::EC2::CapacityReservation")
class CapacityReservation(Ec2Handler):
    """A capacity reservation; its Ref is the reservation's id."""

    gone = ("InvalidCapacityReservationId.NotFound",)
    fixed = ("UnusedReservationBillingOwnerId",)

    _changeable = ("InstanceCount", "EndDate", "EndDateType", "InstanceMatchCriteria")

    def _create(self, request: Request) -> str:
        ec2 = request.client("ec2")
        taken = arguments(
            ec2, "CreateCapacityReservation", request.properties, leave=("TagSpecifications",)
        )
        reply = ec2.create_capacity_reservation(
            **taken, TagSpecifications=tag_specifications(request, "capacity-reservation")
        )
        reservation_id: str = reply["CapacityReservation"]["CapacityReservationId"]
        return reservation_id

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, *self._changeable):
            ec2 = request.client("ec2")
            wanted = present(request.properties, *self._changeable)
            taken = arguments(ec2, "ModifyCapacityReservation", wanted)
            ec2.modify_capacity_reservation(CapacityReservationId=physical_id, **taken)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("ec2").describe_capacity_reservations(
            CapacityReservationIds=[physical_id]
        )
        reservation = reply["CapacityReservations"][0]
        return {
            "Id": physical_id,
            "CapacityReservationArn": reservation["CapacityReservationArn"],
            "CapacityReservationFleetId": reservation.get("CapacityReservationFleetId", ""),
            "AvailabilityZone": reservation["AvailabilityZone"],
            "AvailableInstanceCount": reservation["AvailableInstanceCount"],
            "TotalInstanceCount": reservation["TotalInstanceCount"],
            "InstanceType": reservation["InstanceType"],
            "Tenancy": reservation["Tenancy"],
            "State": reservation["State"],
            "OwnerId": reservation["OwnerId"],
            "CreateDate": reservation["CreateDate"].isoformat(),
            "StartDate": reservation["StartDate"].isoformat(),
            "ReservationType": reservation.get("ReservationType", "default"),
            "DeliveryPreference": reservation.get("DeliveryPreference", "fixed"),
            "CapacityAllocationSet": reservation.get("CapacityAllocations", []),
            "CommitmentInfo": reservation.get("CommitmentInfo", {}),
        }

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ec2").cancel_capacity_reservation(CapacityReservationId=physical_id)

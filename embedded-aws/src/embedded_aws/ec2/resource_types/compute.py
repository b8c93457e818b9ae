"""Placement groups, launch templates and capacity reservations."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import changed, present
from embedded_aws.cloudformation.handlers.names import generated_name, random_suffix
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.ec2.resource_types.handler import Ec2Handler


@resource("AWS::EC2::PlacementGroup")
class PlacementGroup(Ec2Handler):
    """A placement group; its Ref is the group's name, which a template cannot choose."""

    kind = "placement-group"
    gone = ("InvalidPlacementGroup.Unknown",)

    def _create(self, request: Request) -> str:
        name = generated_name(request, limit=255)
        self._make(request, "CreatePlacementGroup", GroupName=name)
        return name

    def _taggable_id(self, request: Request, physical_id: str) -> str:
        return str(self._attributes(request, physical_id)["GroupId"])

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

    kind = "launch-template"
    gone = ("InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateName.NotFoundException")

    def _create(self, request: Request) -> str:
        name = request.properties.get("LaunchTemplateName")
        reply = self._make(
            request,
            "CreateLaunchTemplate",
            leave=("LaunchTemplateName",),
            LaunchTemplateName=name or f"{request.logical_id[:115]}_{random_suffix()}",
        )
        return str(reply["LaunchTemplate"]["LaunchTemplateId"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        names = ("LaunchTemplateData", "VersionDescription")
        if changed(request, before, *names):
            version = present(request.properties, *names)
            self._call(
                request, "CreateLaunchTemplateVersion", version, LaunchTemplateId=physical_id
            )

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

    kind = "capacity-reservation"
    gone = ("InvalidCapacityReservationId.NotFound",)
    fixed = ("UnusedReservationBillingOwnerId",)

    _changeable = ("InstanceCount", "EndDate", "EndDateType", "InstanceMatchCriteria")

    def _create(self, request: Request) -> str:
        reply = self._make(request, "CreateCapacityReservation")
        return str(reply["CapacityReservation"]["CapacityReservationId"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, *self._changeable):
            wanted, reservation = present(request.properties, *self._changeable), physical_id
            self._call(
                request, "ModifyCapacityReservation", wanted, CapacityReservationId=reservation
            )

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

"""Placement groups, launch templates and capacity reservations."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import changed, present
from embedded_aws.cloudformation.handlers.names import random_suffix
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.ec2.resource_types.handler import Ec2Handler


@resource("AWS::EC2::PlacementGroup")
class PlacementGroup(Ec2Handler):
    """A placement group; its Ref is the group's name, which a template cannot choose."""

    kind = "placement-group"
    target = name = "GroupName"
    creation = "CreatePlacementGroup", "GroupName"
    reading = "DescribePlacementGroups", "PlacementGroups"
    deletion = "DeletePlacementGroup"
    tagged = "GroupId"


@resource("AWS::EC2::LaunchTemplate")
class LaunchTemplate(Ec2Handler):
    """A launch template; its Ref is the template's id.

    A change adds a version and leaves the default where it is: CloudFormation cannot move it
    (AWS::EC2::LaunchTemplate, attribute DefaultVersionNumber).
    """

    kind = "launch-template"
    target, name = "LaunchTemplateId", "LaunchTemplateName"
    creation = "CreateLaunchTemplate", "LaunchTemplate.LaunchTemplateId"
    reading = "DescribeLaunchTemplates", "LaunchTemplates"
    deletion = "DeleteLaunchTemplate"

    def _generated_name(self, request: Request) -> str:
        return f"{request.logical_id[:115]}_{random_suffix()}"

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        names = ("LaunchTemplateData", "VersionDescription")
        if changed(request, before, *names):
            version = present(request.properties, *names)
            self._call(
                request, "CreateLaunchTemplateVersion", version, LaunchTemplateId=physical_id
            )

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        template = self._described(request, physical_id)
        names = ("LatestVersionNumber", "DefaultVersionNumber")
        return {name: str(template[name]) for name in names}


@resource("AWS::EC2::CapacityReservation")
class CapacityReservation(Ec2Handler):
    """A capacity reservation; its Ref is the reservation's id."""

    kind = "capacity-reservation"
    target = "CapacityReservationId"
    creation = "CreateCapacityReservation", "CapacityReservation.CapacityReservationId"
    reading = "DescribeCapacityReservations", "CapacityReservations"
    deletion = "CancelCapacityReservation"
    changing = "ModifyCapacityReservation"

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        missing = {
            "CapacityReservationFleetId": "",
            "DeliveryPreference": "fixed",
            "CapacityAllocationSet": [],
            "CommitmentInfo": {},
        }
        return missing | super()._attributes(request, physical_id)

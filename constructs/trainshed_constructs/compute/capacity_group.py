"""The Capacity Blocks or reservations that nodes are launched into, one after another."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_resourcegroups as resource_groups
from constructs import Construct

from trainshed_constructs.errors import ConstructError

_Group = resource_groups.CfnGroup


class CapacityGroup(Construct):
    """Resource group of Capacity Blocks or reservations, for launch templates to name.

    A launch that names the group uses those of its members that are active, have instances free,
    and are of the same type, zone, platform and tenancy (EC2 user guide, "Launch instances into
    Capacity Reservations in a group"). A change of the members changes no launch template.

    Attributes:
        group: the resource.
        arn: its ARN, for `CapacityReservationResourceGroupArn`.

    Example::

        from aws_cdk import App, CfnOutput, Stack
        from trainshed_constructs import CapacityGroup

        stack = Stack(App(), "Compute")
        blocks = CapacityGroup(
            stack,
            "Blocks",
            name="december",
            reservation_ids=["cr-0123456789abcdef0", "cr-0fedcba9876543210"],
        )
        CfnOutput(stack, "Group", value=blocks.arn)
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, name: str, reservation_ids: Sequence[str]
    ) -> None:
        """Declare the group.

        Args:
            scope: parent.
            construct_id: id within the parent.
            name: of the group, which no other group of the region has.
            reservation_ids: ids (cr-...) of blocks or reservations of the stack's own account.

        Raises:
            ConstructError: AWS would refuse the name.
        """
        super().__init__(scope, construct_id)
        # Resource Groups API reference, CreateGroup, Name.
        if name.lower().startswith("aws"):
            raise ConstructError(self, f"name is {name!r}; a resource group's begins not with aws")
        stack = cdk.Stack.of(self)
        # EC2 user guide, "Create a Capacity Reservation group": both types.
        self.group = _Group(
            self,
            "Group",
            name=name,
            configuration=[
                _Group.ConfigurationItemProperty(type="AWS::EC2::CapacityReservationPool"),
                _Group.ConfigurationItemProperty(
                    type="AWS::ResourceGroups::Generic",
                    parameters=[
                        _Group.ConfigurationParameterProperty(
                            name="allowed-resource-types",
                            values=["AWS::EC2::CapacityReservation"],
                        )
                    ],
                ),
            ],
            resources=[
                stack.format_arn(
                    service="ec2", resource="capacity-reservation", resource_name=reservation
                )
                for reservation in reservation_ids
            ],
        )
        self.arn = self.group.attr_arn

"""Launching one instance of a group, with all that RunInstances checks and refuses.

User guide, "Create a launch template for an Auto Scaling group", "Tag Auto Scaling groups and
instances": the group's subnet goes to the template's interfaces; its tags precede the template's.
Documented: at CreateAutoScalingGroup the launch is tried without launching: "You must use a valid
fully-formed launch template" and EC2's words (terraform-provider-aws). Inferred: nothing about
capacity is tried then; a template without an instance type is refused, in these words.
"""

from collections.abc import Mapping
from contextlib import suppress
from itertools import product
from typing import Any

from botocore.exceptions import ClientError

from embedded_aws.actions import Call, Row
from embedded_aws.autoscaling.group import GROUP_NAME_TAG
from embedded_aws.autoscaling.mixed_instances import (
    ec2_specification,
    purchase,
    types_in_turn,
    types_of,
)
from embedded_aws.autoscaling.refusals import bad_template
from embedded_aws.cloudformation.clients import client
from embedded_aws.cloudformation.handlers.tags import tag_list
from embedded_aws.ec2.launch_templates import template_data
from embedded_aws.ec2.service_launches import LaunchRefused, run_instances

# What a launch later may have, as it is.
_CAPACITY = ("InsufficientFreeAddressesInSubnet", "ReservationCapacityExceeded")


def check(call: Call, fields: Row) -> None:
    """Refuse a group from whose launch template EC2 could never launch.

    Args:
        call: that creates or changes the group.
        fields: of the group.

    Raises:
        Refusal: in EC2's words.
    """
    types, subnets = types_of(call, fields), fields["VPCZoneIdentifier"].split(",")
    ec2 = client("ec2", account=call.account, region=call.region)
    for instance_type, subnet_id in product(types, subnets):
        try:
            ec2.run_instances(**_request(call, fields, instance_type, subnet_id, {}), DryRun=True)
        except ClientError as error:
            refused = error.response["Error"]
            if refused["Code"] not in ("DryRunOperation", *_CAPACITY):
                raise bad_template(refused["Message"]) from error


def launch(call: Call, fields: Row, subnet: Any, tags: Mapping[str, str]) -> Row:
    """Launch an instance and return it as DescribeInstances does.

    Args:
        call: in whose account and region.
        fields: of the group.
        subnet: moto's.
        tags: of the instance.

    Raises:
        LaunchRefused, Refusal: EC2 refused, and the last type of a group of several.
    """
    *others, last = types_in_turn(call, fields, subnet)
    for instance_type in others:
        with suppress(LaunchRefused):
            return _launch(call, fields, instance_type, subnet, tags)
    return _launch(call, fields, last, subnet, tags)


def _launch(
    call: Call, fields: Row, instance_type: str, subnet: Any, tags: Mapping[str, str]
) -> Row:
    request = _request(call, fields, instance_type, subnet.id, tags)
    [launched] = run_instances(call, request, instance_type=instance_type, subnet=subnet)
    return launched


def _request(
    call: Call, fields: Row, instance_type: str, subnet_id: str, tags: Mapping[str, str]
) -> dict[str, Any]:
    specification = ec2_specification(fields)
    template = template_data(call, specification)
    own = {**tags, GROUP_NAME_TAG: fields["AutoScalingGroupName"]}
    request: dict[str, Any] = {
        "LaunchTemplate": specification,
        "InstanceType": instance_type,
        **purchase(fields),
        "MinCount": 1,
        "MaxCount": 1,
        "TagSpecifications": [{"ResourceType": "instance", "Tags": tag_list(own)}],
    }
    if interfaces := template.get("NetworkInterfaces"):
        request["NetworkInterfaces"] = [{**each, "SubnetId": subnet_id} for each in interfaces]
    else:
        request["SubnetId"] = subnet_id
    if group := fields.get("PlacementGroup"):
        request["Placement"] = {"GroupName": group}
    return request

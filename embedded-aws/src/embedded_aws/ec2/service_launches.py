"""Launches by AWS's own services, which meet the faults that those of users meet."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from embedded_aws.actions import Call, Row
from embedded_aws.cloudformation.clients import client
from embedded_aws.ec2.volume_keys import KEY_UNUSABLE, unusable_key
from embedded_aws.faults_of_calls import faults

# Documented: groups launch by it, those of AWS Batch, too.
_AUTO_SCALING = "aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"


class LaunchRefused(Exception):
    """EC2 launched no instance.

    Attributes:
        code: EC2's error code.
        message: EC2's.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def run_instances(
    call: Call, request: Mapping[str, Any], *, instance_type: str, subnet: Any
) -> list[Row]:
    """Launch instances and return them as DescribeInstances does.

    Args:
        call: in whose account and region.
        request: parameters of RunInstances.
        instance_type: that the request or its launch template names.
        subnet: moto's, in which they are launched.

    Raises:
        LaunchRefused: EC2 refused.
    """
    facts = {
        "InstanceType": instance_type,
        "AvailabilityZone": subnet.availability_zone,
        "SubnetId": subnet.id,
    }
    # The gateway, which these calls do not pass, answers those of others with faults.
    if fault := faults.take("ec2", "RunInstances", facts):
        raise LaunchRefused(fault.code, fault.message)
    ec2 = client("ec2", account=call.account, region=call.region)
    try:
        launched: list[Row] = ec2.run_instances(**request)["Instances"]
    except ClientError as error:
        refused = error.response["Error"]
        raise LaunchRefused(refused["Code"], refused["Message"]) from error
    ids = [each["InstanceId"] for each in launched]
    role = f"arn:aws:iam::{call.account}:role/{_AUTO_SCALING}"
    if any(unusable_key(call, call.backend("ec2").get_instance(each), role) for each in ids):
        ec2.terminate_instances(InstanceIds=ids)
        raise LaunchRefused("Client.InvalidKMSKey.InvalidState", KEY_UNUSABLE)
    return launched

"""Processes on an instance with what the instance gives them: its role and its place.

EC2 user guide, "IAM roles for Amazon EC2": an instance's processes get credentials of the role of
its instance profile, which lets ec2.amazonaws.com in; the session is called by the instance id.
They come from an endpoint here, not from the instance metadata service.
"""

import json
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.ec2.instance_files import VARIABLE, instance_files
from embedded_aws.ec2.reached_services import endpoint_variables
from embedded_aws.hosts.hosts import Hosts
from embedded_aws.iam.service_principals import lets_in


def role_of(instance: Any) -> Any | None:
    """Return the role of the instance profile of moto's instance, if EC2 may assume one."""
    associations = instance.ec2_backend.iam_instance_profile_associations
    association = associations.get(instance.id)
    for role in association.iam_instance_profile.roles if association else ():
        if lets_in(json.loads(role.assume_role_policy_document), "ec2.amazonaws.com"):
            return role
    return None


def instance_variables(call: Call, instance: Any, hosts: Hosts) -> dict[str, str]:
    """Return the variables of a process on moto's instance.

    Args:
        call: of the instance's account and region.
        instance: moto's.
        hosts: of which one is the instance's.
    """
    hosts.place(instance)
    disk = hosts.disk(instance)
    temporary = disk / "tmp"
    temporary.mkdir(exist_ok=True)
    variables = {
        **hosts.variables(instance.private_ip),
        **endpoint_variables(instance, hosts.endpoint),
        "AWS_REGION": call.region,
        "AWS_DEFAULT_REGION": call.region,
        # What a killed process leaves goes away with its instance.
        "TMPDIR": str(temporary),
        VARIABLE: str(instance_files(instance, disk)),
    }
    if role := role_of(instance):
        variables |= hosts.credentials.grant(call, instance.id, role.arn)
    return variables

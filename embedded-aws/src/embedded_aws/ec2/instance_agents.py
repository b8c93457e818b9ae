"""What an agent on an instance can call: its subnet leads there, its instance profile allows it.

EC2 user guide: a session of an instance's role is called by the instance's id.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.ec2.instance_processes import role_of
from embedded_aws.ec2.reached_services import reaches
from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.enforcement import denied
from embedded_aws.iam.principals import role_session
from embedded_aws.iam.required_permissions import required_permissions


def agent_can(
    call: Call, instance: Any, service: str, operation: str, params: Mapping[str, Any]
) -> bool:
    """Whether moto's instance reaches a service and has a role that allows the call.

    Args:
        call: of the instance's account and region.
        instance: moto's.
        service: for instance `ssm`.
        operation: for instance `UpdateInstanceInformation`.
        params: of the operation.
    """
    role = role_of(instance)
    if role is None or not reaches(instance, service):
        return False
    session = role_session(
        call.account,
        role.arn,
        f"arn:aws:sts::{call.account}:assumed-role/{role.name}/{instance.id}",
    )
    asked = ApiCall(
        service=service,
        operation=operation,
        account=call.account,
        region=call.region,
        protocol="json",
        params=params,
    )
    return all(denied(session, permission) is None for permission in required_permissions(asked))

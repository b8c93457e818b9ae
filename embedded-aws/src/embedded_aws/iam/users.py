"""Users of IAM: what is theirs when a call names nobody, and their permissions boundaries.

IAM API reference, GetUser, ListAccessKeys and others: without UserName, the user whose access key
signs the call. moto ignores the boundary of CreateUser, and has no calls for users' boundaries; it
answers with what a user has as `permissions_boundary`.
"""

from dataclasses import replace
from typing import Any

from moto.core.utils import get_service_model

from embedded_aws.actions import Call, action
from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.permissions_boundaries import check_boundary


def with_own_name(call: ApiCall, user_name: str) -> ApiCall:
    """Return a call with the name of the user who makes it, where it may leave that out."""
    if call.service != "iam" or not user_name or "UserName" in call.params:
        return call
    shape = get_service_model("iam").operation_model(call.operation).input_shape
    if shape is None or "UserName" not in shape.members:
        return call
    return replace(call, params={**call.params, "UserName": user_name})


@action("iam", "CreateUser")
def create_user(call: Call) -> Any:
    """Create a user, after checking its boundary."""
    check_boundary(call)
    answer = call.moto()
    _bound(call)
    return answer


@action("iam", "PutUserPermissionsBoundary")
def put_boundary(call: Call) -> Any:
    """Give a user a boundary in place of the one that it may have."""
    check_boundary(call)
    _bound(call)
    return {}


@action("iam", "DeleteUserPermissionsBoundary")
def delete_boundary(call: Call) -> Any:
    """Take a user's boundary away."""
    _bound(call)
    return {}


def _bound(call: Call) -> None:
    """Give a user the boundary that a call names, or none."""
    arn = call.params.get("PermissionsBoundary")
    call.backend("iam").get_user(call.params["UserName"]).permissions_boundary = arn and {
        "PermissionsBoundaryType": "PermissionsBoundaryPolicy",
        "PermissionsBoundaryArn": arn,
    }

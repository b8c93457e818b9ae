"""Names of resources that have none in the template."""

import secrets
import string

from embedded_aws.cloudformation.resource import Request

_LETTERS = string.ascii_uppercase + string.digits
_LENGTH = 12


def random_suffix() -> str:
    """Return twelve capital letters and digits, the tail of CloudFormation's own names."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def generated_name(request: Request, *, limit: int) -> str:
    """Return `StackName-LogicalId-RANDOM`, new at every call and at most `limit` characters long.

    The name must differ each time: a replacement exists beside the resource that it replaces.
    """
    room = limit - _LENGTH - 2
    stack = request.stack_name[: max(room // 2, room - len(request.logical_id))]
    logical_id = request.logical_id[: room - len(stack)]
    return f"{stack}-{logical_id}-{random_suffix()}"

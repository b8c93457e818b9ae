"""What roles did with their permissions, as the gateway's `/_embedded-aws/roles` tells it."""

import json
from dataclasses import dataclass
from urllib.request import urlopen

ROLES_PATH = "/_embedded-aws/roles"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleUse:
    """An action that a role used, one that it never used, or one that was denied.

    Attributes:
        account: 12 digits.
        role: the role's name.
        grant: the action as the role's policies have it, for instance `s3:Get*`; empty if they do
            not have it.
        action: for instance `s3:GetObject`; empty if nothing that the grant means was used.
        used: how many calls used it.
        denied: how many calls were denied it.
        resource: the ARN of what was denied.
    """

    account: str
    role: str
    grant: str = ""
    action: str = ""
    used: int = 0
    denied: int = 0
    resource: str = ""


def read_role_uses(endpoint: str, name: str) -> list[RoleUse]:
    """Ask an embedded AWS what its roles used.

    Args:
        endpoint: its URL.
        name: part of the roles' names; empty for all roles.
    """
    with urlopen(endpoint + ROLES_PATH) as answer:
        return [RoleUse(**row) for row in json.load(answer) if name in row["role"]]

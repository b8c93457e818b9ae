"""What roles did with their permissions, as the gateway's `/_embedded-aws/roles` tells it."""

from dataclasses import dataclass

from embedded_aws.controls import CONTROLS, Controls

ROLES_PATH = f"{CONTROLS}roles"


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


def read_role_uses(controls: Controls, name: str) -> list[RoleUse]:
    """Ask an embedded AWS what its roles used.

    Args:
        controls: of the embedded AWS.
        name: part of the roles' names; empty for all roles.
    """
    return [RoleUse(**row) for row in controls.get(ROLES_PATH) if name in row["role"]]

"""Recording what roles do with their permissions."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from moto.backends import get_backend
from moto.iam.models import Role

from embedded_aws.iam.policy_evaluation import granted_actions, matches_action
from embedded_aws.iam.principals import Principal, attached_policies
from embedded_aws.iam.required_permissions import Permission
from embedded_aws.role_use import RoleUse


class UseRecord:
    """The calls that were made with the credentials of roles and users since the last reset."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        # By the role's ARN and the action, and what was denied by the resource, too.
        self._used: Counter[tuple[str, str]] = Counter()
        self._denied: Counter[tuple[str, str, str]] = Counter()

    def used(self, principal: Principal, permissions: Iterable[Permission]) -> None:
        """Count a call that was allowed."""
        actions = {permission.action for permission in permissions}
        with self._guard:
            self._used.update((principal.entity_arn, action) for action in actions)

    def denied(self, principal: Principal, permission: Permission) -> None:
        """Count a call that was denied a permission."""
        with self._guard:
            self._denied[principal.entity_arn, permission.action, permission.resources[0]] += 1

    def rows(self, accounts: Sequence[str]) -> Iterator[RoleUse]:
        """Yield what the roles of these accounts did; services' own roles are left out."""
        for account in accounts:
            for role in get_backend("iam")[account]["aws"].get_roles():
                if "/aws-service-role/" not in role.arn:
                    yield from self._rows(account, role)

    def _rows(self, account: str, role: Role) -> Iterator[RoleUse]:
        used = {action: count for (arn, action), count in self._used.items() if arn == role.arn}
        for grant in granted_actions(attached_policies(role)):
            matching = [action for action in used if matches_action(grant, action)]
            for action in matching or [""]:
                yield RoleUse(
                    account=account,
                    role=role.name,
                    grant=grant,
                    action=action,
                    used=used.get(action, 0),
                )
        for (arn, action, resource), count in self._denied.items():
            if arn == role.arn:
                yield RoleUse(
                    account=account,
                    role=role.name,
                    action=action,
                    denied=count,
                    resource=resource,
                )

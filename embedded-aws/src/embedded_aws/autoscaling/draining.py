"""Instances that another service drains before their group terminates them.

On AWS by lifecycle hooks, which are not here.
"""

from embedded_aws.actions import Call
from embedded_aws.autoscaling.convergence import converge
from embedded_aws.autoscaling.group import groups, guard


def let_go(call: Call, name: str, instance_id: str) -> None:
    """Let a group terminate an instance that it replaces, if it still has it.

    Args:
        call: in whose account and region.
        name: of the group.
        instance_id: of an instance that is drained.
    """
    with guard:
        group = groups(call).get(name)
        if group is None:
            return
        for member in group.members:
            if member.instance_id == instance_id and not member.drained:
                member.drained = True
                converge(group)
                return

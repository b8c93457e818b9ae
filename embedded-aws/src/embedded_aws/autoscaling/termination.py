"""Which instances scale-in terminates.

User guide, "Configure termination policies": of the zone with most instances, by the policies in
their order; those that are protected stay. Documented: the default takes those of an older launch
template first; inferred: then the oldest, where AWS takes the one closest to its next billing hour.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from embedded_aws.autoscaling.group import Group, Member
from embedded_aws.autoscaling.mixed_instances import template_of
from embedded_aws.autoscaling.refusals import unsupported

# What is smallest goes first.
_Order = Callable[[Group, Member], tuple[int, ...]]


def _is_current(group: Group, member: Member) -> int:
    return int(member.facts["LaunchTemplate"] == template_of(group.fields))


def _age(group: Group, member: Member) -> int:
    return group.members.index(member)


_ORDERS: Final[Mapping[str, _Order]] = {
    "Default": lambda group, member: (_is_current(group, member), _age(group, member)),
    "NewestInstance": lambda group, member: (-_age(group, member),),
    "OldestInstance": lambda group, member: (_age(group, member),),
    "OldestLaunchTemplate": lambda group, member: (_is_current(group, member),),
}


def check_policies(policies: list[str]) -> None:
    """Refuse termination policies that the embedded AWS does not know.

    Raises:
        Refusal: names one.
    """
    for policy in policies:
        if policy not in _ORDERS:
            raise unsupported(f"the TerminationPolicies {policy}")


def first_to_go(group: Group, among: Collection[Member], count: int) -> list[Member]:
    """Return the instances that a group terminates, fewer than asked if others are protected."""
    chosen: list[Member] = []
    while len(chosen) < count:
        left = [member for member in among if member not in chosen]
        candidates = [member for member in left if not member.protected]
        if not candidates:
            break
        zones = [member.facts["AvailabilityZone"] for member in left]

        def order(member: Member, zones: list[str] = zones) -> tuple[int, ...]:
            policies = [_ORDERS[each] for each in group.fields["TerminationPolicies"]]
            own = (part for policy in policies for part in policy(group, member))
            return -zones.count(member.facts["AvailabilityZone"]), *own

        chosen.append(min(candidates, key=order))
    return chosen

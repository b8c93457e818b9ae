"""Which stack owns a resource, and which stacks no cluster uses."""

from collections.abc import Iterator, Mapping

from trainshed.account.deployed_stacks import DeployedStack, all_stacks, importers, template_of
from trainshed.account.tags import CLUSTER_TAG
from trainshed.aws import Region
from trainshed.plan.storage import STORAGES
from trainshed.teardown.networks import NETWORK_GUARD

_EKS_CLUSTER = "AWS::EKS::Cluster"
_STORAGE = (
    *(each.resource_type for each in STORAGES if each.clients_group),
    *(f"Custom::Existing{each.kind.value.title()}" for each in STORAGES if each.clients_group),
)
# CloudFormation user guide, "Understand CloudFormation stack creation events" and "Stack status
# codes": stacks that can only be deleted.
_BROKEN = frozenset({"CREATE_FAILED", "DELETE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"})
OWNERSHIP_ACTIONS = (
    "cloudformation:DescribeStacks",
    "cloudformation:GetTemplate",
    "cloudformation:ListExports",
    "cloudformation:ListImports",
    "cloudformation:ListStackResources",
)
_NO_CLUSTER = "no deployed cluster uses it"


class Ownership:
    """The stacks of a region.

    Attributes:
        unused: why a stack of trainshed can go, by the stack's name; in the order of deletion.
    """

    def __init__(self, region: Region) -> None:
        """Ask for all stacks."""
        self._stacks = {each.name: each for each in all_stacks(region)}
        self._owners = {
            name: stack
            for stack in self._stacks.values()
            for names in stack.resources.values()
            for name in names
        }
        self.unused: Mapping[str, str] = dict(self._unused(region))

    def has_stack(self, name: str) -> bool:
        """Return whether there is a stack of a name."""
        return name in self._stacks

    def stack(self, name: str) -> DeployedStack:
        """Return the stack of a name."""
        return self._stacks[name]

    def owner(self, *names: str) -> DeployedStack | None:
        """Return the stack of a resource, by any of its names; None where no stack has it."""
        return next((self._owners[name] for name in names if name in self._owners), None)

    def _unused(self, region: Region) -> Iterator[tuple[str, str]]:
        """Yield names of stacks; what is in a network goes before it."""
        broken = {
            each.name
            for each in self._stacks.values()
            # CDK tags what is in a stack, not the stack; of what is in a broken one, only the
            # template is sure to be left.
            if each.status in _BROKEN and CLUSTER_TAG in str(template_of(region, each))
        }
        for name in sorted(broken):
            yield name, f"its status is {self._stacks[name].status}: it can only be deleted"
        shared = {
            each.name
            for each in self._stacks.values()
            if each.ids(NETWORK_GUARD, _EKS_CLUSTER, *_STORAGE) and not each.is_at_work
        }
        idle = set[str]()
        networks = [each for each in self._stacks.values() if each.ids(NETWORK_GUARD)]
        for network in sorted(networks, key=lambda each: each.name):
            imports = importers(region, network)
            everyone = frozenset().union(*imports.values()) - broken
            for user in sorted(everyone & shared):
                if not everyone - shared or self._is_idle(region, user, imports, shared):
                    idle.add(user)
                    yield user, _NO_CLUSTER
            if not everyone - idle and network.name in shared - broken:
                yield network.name, f"{_NO_CLUSTER}; it goes when nothing else is in it"

    def _is_idle(
        self,
        region: Region,
        name: str,
        imports: Mapping[str, frozenset[str]],
        shared: set[str],
    ) -> bool:
        """Return whether no cluster uses something in a network that clusters use."""
        stack = self._stacks[name]
        if stack.ids(_EKS_CLUSTER):
            return not any(importers(region, stack).values())
        groups = {each.clients_group for each in STORAGES if each.clients_group}
        # Nodes mount storage in the group of its clients, which the network exports for it.
        users = [
            users
            for export, users in imports.items()
            if name in users and any(group in export for group in groups)
        ]
        return bool(users) and not frozenset().union(*users) - shared

"""Which stack owns a resource, and which stacks no cluster uses."""

from collections.abc import Collection, Mapping
from itertools import product

from trainshed.account.deployed_stacks import DeployedStack, all_stacks
from trainshed.aws import Region
from trainshed.orphans.unused_stacks import unused_stacks

OWNERSHIP_ACTIONS = (
    "cloudformation:DescribeStacks",
    "cloudformation:GetTemplate",
    "cloudformation:ListExports",
    "cloudformation:ListImports",
    "cloudformation:ListStackResources",
)


class Ownership:
    """The stacks of a region.

    Attributes:
        unused: why a stack of trainshed can go, by the stack's name; in the order of deletion.
    """

    def __init__(self, region: Region) -> None:
        """Ask for all stacks."""
        self._stacks = {each.name: each for each in all_stacks(region)}
        self._owners = {
            (kind, name): stack
            for stack in self._stacks.values()
            for kind, names in stack.resources.items()
            for name in names
        }
        self.unused: Mapping[str, str] = dict(unused_stacks(region, self._stacks))

    def has_stack(self, name: str) -> bool:
        """Return whether there is a stack of a name."""
        return name in self._stacks

    def stack(self, name: str) -> DeployedStack:
        """Return the stack of a name."""
        return self._stacks[name]

    def owner(self, types: Collection[str], *names: str) -> DeployedStack | None:
        """Return the stack of a resource; None where no stack has it.

        Args:
            types: one of which it has in its stack.
            names: one of which it has there.
        """
        found = (self._owners.get(each) for each in product(types, names))
        return next(filter(None, found), None)

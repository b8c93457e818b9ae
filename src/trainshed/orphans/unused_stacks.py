"""Stacks of trainshed that no cluster uses, and those that can only be deleted."""

from collections.abc import Collection, Iterator, Mapping

from trainshed.account.deployed_stacks import DeployedStack, importers, template_of
from trainshed.account.tags import CLUSTER_TAG
from trainshed.aws import Region
from trainshed.plan.storage import STORAGES, BucketPlan
from trainshed.plan.storage.bucket import is_own_bucket
from trainshed.teardown.networks import NETWORK_GUARD

REPOSITORY = "AWS::ECR::Repository"
# What each stack has that makes a repository, and no other stack.
_NEW_REPOSITORY = "Custom::NewRepositoryName"
_EKS_CLUSTER = "AWS::EKS::Cluster"
_STORAGE = tuple(kind for each in STORAGES if each.clients_group for kind in each.types())
# CloudFormation user guide, "Understand CloudFormation stack creation events" and "Stack status
# codes": stacks that can only be deleted.
_BROKEN = frozenset({"DELETE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"})
_NO_CLUSTER = "no deployed cluster uses it"


def unused_stacks(region: Region, stacks: Mapping[str, DeployedStack]) -> Iterator[tuple[str, str]]:
    """Yield names of stacks, each with why it can go; what is in a network goes before it.

    Args:
        region: where.
        stacks: all of the region, by their names.
    """
    broken = {
        each.name
        for each in stacks.values()
        # CDK tags what is in a stack, not the stack; of what is in a broken one, only the template
        # is sure to be left.
        if each.status in _BROKEN and CLUSTER_TAG in str(template_of(region, each))
    }
    for name in sorted(broken):
        yield name, f"its status is {stacks[name].status}: it can only be deleted"
    shared = {
        each.name
        for each in stacks.values()
        if each.ids(NETWORK_GUARD, _EKS_CLUSTER, *_STORAGE) and not each.is_at_work
    }
    idle = set[str]()
    networks = [each for each in stacks.values() if each.ids(NETWORK_GUARD)]
    for network in sorted(networks, key=lambda each: each.name):
        imports = importers(region, network)
        everyone = frozenset().union(*imports.values()) - broken
        for user in sorted(everyone & shared):
            if not everyone - shared or _is_idle(region, stacks[user], imports, shared):
                idle.add(user)
                yield user, _NO_CLUSTER
        if not everyone - idle and network.name in shared - broken:
            yield network.name, f"{_NO_CLUSTER}; it goes when nothing else is in it"
    rest = [each for name, each in stacks.items() if name not in broken | idle]
    for name in _unnamed(region, rest):
        if not stacks[name].is_at_work:
            yield name, _NO_CLUSTER


def _is_idle(
    region: Region,
    stack: DeployedStack,
    imports: Mapping[str, frozenset[str]],
    shared: Collection[str],
) -> bool:
    """Return whether no cluster uses something in a network that clusters use."""
    if stack.ids(_EKS_CLUSTER):
        return not any(importers(region, stack).values())
    groups = {each.clients_group for each in STORAGES if each.clients_group}
    # Nodes mount storage in the group of its clients, which the network exports for it.
    users = [
        users
        for export, users in imports.items()
        if stack.name in users and any(group in export for group in groups)
    ]
    return bool(users) and not frozenset().union(*users).difference(shared)


def _unnamed(region: Region, stacks: Collection[DeployedStack]) -> Iterator[str]:
    """Yield stacks of repositories and buckets that no other stack names.

    They export nothing: policies of nodes and jobs, and links of file systems, name what they use.
    A cluster in an existing VPC may import from no stack, so all stacks are asked.
    """
    named = {each.name: names for each in stacks if (names := _named(each))}
    if not named:
        return
    templates = [str(template_of(region, each)) for each in stacks if each.name not in named]
    for stack, names in sorted(named.items()):
        if not any(name in template for template in templates for name in names):
            yield stack


def _named(stack: DeployedStack) -> tuple[str, ...]:
    """Return how templates name the repositories and buckets of a stack of trainshed."""
    _, _, _, region, account, _ = stack.stack_id.split(":", 5)
    repositories = stack.ids(REPOSITORY) if stack.ids(_NEW_REPOSITORY) else ()
    return (
        *(f":repository/{each}" for each in repositories),
        # The account's id is a parameter there.
        *(
            each.removesuffix(f"{account}-{region}")
            for each in stack.ids(BucketPlan.resource_type)
            if is_own_bucket(each, account, region)
        ),
    )

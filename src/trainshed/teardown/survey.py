"""What a teardown will remove and what it will keep, before it does anything."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trainshed.account.deployed_stacks import DeployedStack, find_stack, importers
from trainshed.aws import Region
from trainshed.errors import Failure, UnknownName
from trainshed.jobs.model import ListedJob
from trainshed.jobs.scheduler import UnseenJobs, scheduler_of
from trainshed.orchestrators import ORCHESTRATOR_OUTPUT, Orchestrator, traits
from trainshed.orchestrators.batch.former import OUTPUTS, former_environments
from trainshed.plan import ClusterPlan
from trainshed.plan.stack_names import stack_name
from trainshed.plan.storage import STORAGES, StoragePlan
from trainshed.teardown.control_planes import (
    cluster_name,
    kept_of_control_plane,
    unused_control_planes,
)
from trainshed.teardown.kept import FLOW_LOGS, Kept, kept_logs, kept_repositories
from trainshed.teardown.kept_storage import kept_storage
from trainshed.teardown.kubernetes import MadeByKubernetes, made_by_kubernetes
from trainshed.teardown.networks import (
    file_systems_in,
    kept_network,
    left_groups,
    left_subnets,
    networks_of,
    unused_networks,
)
from trainshed.teardown.shared_control_plane import InKubernetes, look_at_everything, look_at_jobs

# The deployed stack of each kind of storage, if there is one.
Storages: TypeAlias = Mapping[type[StoragePlan], DeployedStack | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a teardown will do.

    Attributes:
        removed: stacks, in the order of their deletion.
        groups: security groups of file systems that are gone, by the network stack that they
            would hold.
        subnets: of zones that have left a network stack, by the stack, too.
        former: compute environments of AWS Batch that the cluster had before, which use what is in
            its stack (`trainshed apply --blue-green`).
        kept: what stays.
        jobs: jobs that are not over.
        unseen_jobs: why it is not known which jobs are not over; None when it is.
        eks_cluster: name of the EKS cluster whose nodes go, or its own stack; None for none.
        in_kubernetes: what goes of a cluster from a control plane that stays; None without one.
    """

    removed: tuple[DeployedStack, ...]
    groups: Mapping[str, tuple[str, ...]]
    subnets: Mapping[str, tuple[str, ...]]
    former: tuple[str, ...]
    kept: tuple[Kept, ...]
    jobs: tuple[ListedJob, ...]
    unseen_jobs: str | None
    eks_cluster: str | None
    in_kubernetes: InKubernetes | None


def survey(
    region: Region,
    cluster: ClusterPlan,
    others: Sequence[ClusterPlan],
    *,
    only: str | None = None,
) -> Survey:
    """Look at what AWS has of a cluster, and decide what goes.

    The stacks are found by their names, so that storage and a repository which have left the
    cluster file are found under their default names.

    Args:
        region: the cluster's.
        cluster: the cluster.
        others: the other clusters, which may share stacks with it.
        only: name of the one stack to delete; by default all of the cluster.

    Raises:
        Failure: the credentials are of another account, or a stack is busy.
        UnknownName: the cluster has no stack of the name `only`.
    """
    _check_account(region, cluster)
    names = _names(cluster)
    unused_planes = _unused_control_planes(region, cluster, others)
    if only in {each.name for each in unused_planes}:
        names["control plane"] = str(only)
    found = {kind: find_stack(region, name) for kind, name in names.items()}
    compute, kubernetes = found["compute"], found["control plane"]
    storages = {each: found[each.kind.value] for each in STORAGES}
    planned = cluster.network.stack_name
    networks = networks_of(region, planned, filter(None, (compute, *storages.values())))
    known = {*names.values(), planned, *(each.name for each in networks)}
    unused = unused_networks(region, known | {each.network.stack_name for each in others})
    if only and only not in known:
        networks += tuple(each for each in unused if each.name == only)
        known |= {each.name for each in unused}
    if only and only not in known:
        known |= {each.name for each in unused_planes}
        raise UnknownName(f"stack of {cluster.name}", only, sorted(known))
    users = _users(region, names, storages, kubernetes, networks, others)
    eks_cluster = cluster_name(kubernetes, cluster.control_plane)
    made = made_by_kubernetes(region, eks_cluster) if eks_cluster else ()
    removed: list[DeployedStack] = []
    kept: list[Kept] = []
    for stack in filter(None, (*found.values(), *networks)):
        if only not in (None, stack.name):
            continue
        # Those that go before it use it no more.
        if remaining := users.get(stack.name, set()) - {each.name for each in removed}:
            kept.append(_in_use(stack, stack in networks, remaining))
        elif stack in networks and (inside := _inside(region, stack, removed, made)):
            why = f"{', '.join(inside)} is in it; delete that, then tear down again"
            kept.append(kept_network(stack, why))
        else:
            removed.append(stack)
    for stack in removed:
        if stack.is_at_work and stack.status != "DELETE_IN_PROGRESS":
            raise Failure(f"{stack.name} is {stack.status}; try again when that is over")
    staying = {each.name for each in kept}
    gone = {name for name in known if only in (None, name)} - staying
    kept += _left_behind(region, cluster, names, storages, gone)
    if eks_cluster and names["control plane"] in gone:
        kept += kept_of_control_plane(region, kubernetes, eks_cluster)
        kept += (each.kept for each in made)
    for stack in unused if only is None else ():
        command = f"trainshed teardown {cluster.name} --stack {stack.name}"
        kept.append(kept_network(stack, f"no stack uses it; if you no longer need it: {command}"))
    for stack in unused_planes if only is None else ():
        command = f"trainshed teardown {cluster.name} --stack {stack.name}"
        kept.append(
            Kept(
                what="stack",
                name=stack.name,
                size="1 control plane of EKS and its system nodes",
                cost="bills by the hour",
                why=f"no stack uses it; if you no longer need it: {command}",
            )
        )
    jobs, unseen_jobs = (
        _unfinished_jobs(region, compute) if compute and compute in removed else ((), None)
    )
    in_kubernetes = None
    if eks_cluster and kubernetes and kubernetes not in removed:
        if only is None:
            in_kubernetes = look_at_everything(region, cluster, eks_cluster)
        elif compute in removed:
            in_kubernetes = look_at_jobs(cluster, [each.job_id for each in jobs], unseen_jobs)
    kept += in_kubernetes.kept if in_kubernetes else ()
    going = [each for each in networks if each in removed]
    return Survey(
        removed=tuple(removed),
        groups={each.name: tuple(left_groups(region, each)) for each in going},
        subnets={each.name: tuple(left_subnets(region, each)) for each in going},
        former=_former(region, compute) if compute and compute in removed else (),
        kept=tuple(kept),
        jobs=tuple(jobs),
        unseen_jobs=unseen_jobs,
        eks_cluster=eks_cluster,
        in_kubernetes=in_kubernetes,
    )


def _former(region: Region, compute: DeployedStack) -> tuple[str, ...]:
    batch = compute.outputs.get(ORCHESTRATOR_OUTPUT) == Orchestrator.BATCH
    if not batch or not compute.outputs.keys() >= OUTPUTS:
        return ()
    return tuple(each.name for each in former_environments(region, compute.outputs))


def _unused_control_planes(
    region: Region, cluster: ClusterPlan, others: Iterable[ClusterPlan]
) -> tuple[DeployedStack, ...]:
    """Return our control planes that no stack uses and no cluster file names.

    Not for clusters of other orchestrators, whose owners need no permissions of EKS.
    """
    if cluster.control_plane is None:
        return ()
    named = (each.control_plane for each in (cluster, *others) if each.control_plane)
    return unused_control_planes(region, {each.stack_name for each in named})


def _inside(
    region: Region,
    network: DeployedStack,
    removed: Iterable[DeployedStack],
    made: Iterable[MadeByKubernetes],
) -> tuple[str, ...]:
    """Name what is in a network, in none of its stacks, and keeps it from being deleted."""
    vpcs = network.ids("AWS::EC2::VPC")
    return (
        *file_systems_in(region, network, removed),
        *(each.kept.name for each in made if each.vpc in vpcs),
    )


def _unfinished_jobs(
    region: Region, compute: DeployedStack
) -> tuple[Sequence[ListedJob], str | None]:
    """Return the jobs that are not over; or none, and why that is not known."""
    scheduler = scheduler_of(region, compute.name, compute.outputs)
    # A stack whose creation failed has no outputs, and no jobs.
    if scheduler is None and compute.outputs:
        raise Failure(
            f"{compute.name} was deployed by an earlier version, whose jobs cannot be looked up; "
            f"deploy it again, then tear down: npx cdk deploy {compute.name}; or delete "
            f"it with its jobs: npx cdk destroy {compute.name}"
        )
    try:
        return (scheduler.jobs(unfinished=True) if scheduler else ()), None
    except UnseenJobs as error:
        return (), str(error)


def _names(cluster: ClusterPlan) -> dict[str, str]:
    """Name a cluster's stacks without its network's, in the order of their deletion."""
    return {
        "compute": cluster.name,
        "prerequisites": cluster.prerequisites_stack_name,
        "control plane": cluster.control_plane.stack_name
        if cluster.control_plane
        else stack_name(cluster.short_name, "ControlPlane"),
        **{each.kind.value: each.stack_for(_storage_name(cluster, each)) for each in STORAGES},
        "containers": cluster.own_repository.stack_name,
    }


def _storage_name(cluster: ClusterPlan, kind: type[StoragePlan]) -> str:
    """Return what a cluster's storage of a kind is shared by, or was before it left its file."""
    names = (each.name for each in cluster.storages if isinstance(each, kind))
    return next(names, cluster.short_name)


def _check_account(region: Region, cluster: ClusterPlan) -> None:
    actual = region.call("sts", "get_caller_identity")["Account"]
    if cluster.account and cluster.account != actual:
        raise Failure(
            f"{cluster.name} is in account {cluster.account}, and the credentials are of "
            f"{actual}; use those of the cluster's account"
        )


def _users(
    region: Region,
    names: Mapping[str, str],
    storages: Storages,
    kubernetes: DeployedStack | None,
    networks: Iterable[DeployedStack],
    others: Iterable[ClusterPlan],
) -> dict[str, set[str]]:
    """Return the stacks that use each of the stacks that clusters share, by its name."""
    there = [each for each in others if find_stack(region, each.name)]
    users: dict[str, set[str]] = {name: set() for name in names.values()}
    for each in there:
        if each.repository:
            users.setdefault(each.repository.stack_name, set()).add(each.name)
        # Nothing is imported of a bucket: nodes and jobs know its name.
        if each.bucket:
            users.setdefault(each.bucket.stack_name, set()).add(each.name)
    if kubernetes:
        users[kubernetes.name] = set().union(*importers(region, kubernetes).values())
        users[kubernetes.name] |= {
            each.name
            for each in there
            if each.control_plane and each.control_plane.stack_name == kubernetes.name
        }
    for network in networks:
        imports = importers(region, network)
        users[network.name] = set().union(*imports.values())
        users[network.name] |= {c.name for c in there if c.network.stack_name == network.name}
        for export, importing in imports.items():
            # Nodes mount storage in the group of its clients, which the network exports.
            for kind, storage in storages.items():
                group = kind.clients_group
                if storage and group and group in export and storage.name in importing:
                    users[storage.name] |= importing - {storage.name}
    return users


def _left_behind(
    region: Region,
    cluster: ClusterPlan,
    names: Mapping[str, str],
    storages: Storages,
    gone: Collection[str],
) -> Iterator[Kept]:
    """Name what stays of stacks that are gone, or go: it is there after their deletion, too."""
    for kind, stack in storages.items():
        if names[kind.kind.value] in gone:
            ids = {*(stack.ids(*kind.types()) if stack else ())}
            ids |= {s.existing for s in cluster.storages if isinstance(s, kind) and s.existing}
            yield from kept_storage(region, kind.kind, _storage_name(cluster, kind), ids)
    if names["containers"] in gone:
        yield from kept_repositories(region, cluster.own_repository)
    if names["compute"] in gone:
        # Also of an orchestrator that the cluster had before.
        for each in Orchestrator:
            prefix = f"{names['compute']}-{traits(each).job_logs}"
            yield from kept_logs(region, prefix, "the output of jobs")
    for network in sorted({*gone} - {*names.values()}):
        yield from kept_logs(region, f"{network}-{FLOW_LOGS}", "the record of network traffic")


def _in_use(stack: DeployedStack, is_network: bool, users: Iterable[str]) -> Kept:
    why = f"used by {', '.join(sorted(users))}"
    if is_network:
        return kept_network(stack, why)
    return Kept(what="stack", name=stack.name, size="", cost="as before", why=why)

"""What a teardown will remove and what it will keep, before it does anything."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from trainshed.ami.account import Region
from trainshed.errors import TrainshedError, UnknownName
from trainshed.plan import ClusterPlan
from trainshed.plan.repository import own_repository
from trainshed.plan.stack_names import stack_name
from trainshed.teardown.kept import (
    Kept,
    file_systems_in,
    flow_logs,
    job_logs,
    kept_file_systems,
    kept_network,
    kept_repositories,
)
from trainshed.teardown.stacks import Stack, find_stack, importers

# AWS Batch, JobStatus: those of a job that is not over.
_UNFINISHED = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING")


class TeardownRefused(TrainshedError):
    """Something has to be done, or agreed to, first."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that would be ended.

    Attributes:
        job_id: its id.
        name: its name.
        status: for instance RUNNING.
    """

    job_id: str
    name: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a teardown will do.

    Attributes:
        removed: stacks, in the order of their deletion.
        groups: security groups of file systems that are gone; they would hold the network.
        kept: what stays.
        jobs: jobs that are not over.
    """

    removed: tuple[Stack, ...]
    groups: tuple[str, ...]
    kept: tuple[Kept, ...]
    jobs: tuple[Job, ...]


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
        TeardownRefused: the credentials are of another account, or a stack is busy.
        UnknownName: the cluster has no stack of the name `only`.
    """
    _check_account(region, cluster)
    repository = own_repository(cluster.spec)
    names = {
        "compute": cluster.spec.name,
        "prerequisites": cluster.prerequisites_stack_name,
        "storage": (
            cluster.lustre.stack_name
            if cluster.lustre
            else stack_name(cluster.spec.short_name, "Storage")
        ),
        "images": repository.stack_name,
        "network": cluster.network.stack_name,
    }
    if only and only not in names.values():
        raise UnknownName(f"stack of {cluster.spec.name}", only, names.values())
    found = {kind: find_stack(region, name) for kind, name in names.items()}
    going = {kind for kind, name in names.items() if found[kind] and only in (None, name)}
    kept: list[Kept] = []
    users = _users(region, found, others)
    for kind in ("storage", "images", "network"):
        stack = found[kind]
        if kind not in going or stack is None:
            continue
        # Those that go before it use it no more.
        remaining = users[kind] - {names[each] for each in going}
        if remaining:
            going.discard(kind)
            kept.append(_shared(kind, stack, remaining))
    network = found["network"]
    if network and "network" in going and (inside := file_systems_in(region, network)):
        going.discard("network")
        why = f"{', '.join(inside)} is in it; delete that, then tear down again"
        kept.append(kept_network(network, why))
    removed = [stack for kind, stack in found.items() if stack and kind in going]
    for stack in removed:
        if stack.status.endswith("_IN_PROGRESS") and stack.status != "DELETE_IN_PROGRESS":
            raise TeardownRefused(f"{stack.name} is {stack.status}; try again when that is over")
    compute, storage, images = (
        found[kind] if kind in going else None for kind in ("compute", "storage", "images")
    )
    if storage:
        kept += kept_file_systems(region, storage)
    if images:
        kept += kept_repositories(region, images, repository.cache_prefix)
    if compute:
        kept += job_logs(region, compute)
    if network and "network" in going:
        kept += flow_logs(region, network)
    jobs = tuple(_jobs(region, compute)) if compute else ()
    groups = tuple(_left_groups(region, network)) if network and "network" in going else ()
    return Survey(removed=tuple(removed), groups=groups, kept=tuple(kept), jobs=jobs)


def _check_account(region: Region, cluster: ClusterPlan) -> None:
    actual = region.call("sts", "get_caller_identity")["Account"]
    if cluster.account and cluster.account != actual:
        raise TeardownRefused(
            f"{cluster.spec.name} is in account {cluster.account}, and the credentials are of "
            f"{actual}; use those of the cluster's account"
        )


def _users(
    region: Region, found: dict[str, Stack | None], others: Iterable[ClusterPlan]
) -> dict[str, set[str]]:
    """Return the stacks that use each of the stacks that clusters share."""
    network, storage, images = found["network"], found["storage"], found["images"]
    imports = importers(region, network) if network else {}
    there = [each for each in others if find_stack(region, each.spec.name)]
    return {
        # Nodes mount a file system in the group of its clients, which the network exports.
        "storage": {
            name
            for export, names in imports.items()
            if "StorageClients" in export and storage and storage.name in names
            for name in names - {storage.name}
        },
        "images": {
            each.spec.name
            for each in there
            if images and each.repository and each.repository.stack_name == images.name
        },
        "network": {name for names in imports.values() for name in names}
        | {each.spec.name for each in there if network and each.network.stack_name == network.name},
    }


def _shared(kind: str, stack: Stack, users: Iterable[str]) -> Kept:
    why = f"used by {', '.join(sorted(users))}"
    if kind == "network":
        return kept_network(stack, why)
    return Kept(what="stack", name=stack.name, size="", cost="as before", why=why)


def _left_groups(region: Region, network: Stack) -> Iterator[str]:
    """Name the groups that were kept for file systems in a VPC which is to go."""
    for vpc in network.ids("AWS::EC2::VPC"):
        filters = [
            {"Name": "vpc-id", "Values": [vpc]},
            {"Name": "tag-key", "Values": ["trainshed:lustre"]},
        ]
        for each in region.pages(
            "ec2", "describe_security_groups", "SecurityGroups", Filters=filters
        ):
            yield each["GroupId"]


def _jobs(region: Region, compute: Stack) -> Iterator[Job]:
    for queue in compute.ids("AWS::Batch::JobQueue"):
        for status in _UNFINISHED:
            for each in region.pages(
                "batch", "list_jobs", "jobSummaryList", jobQueue=queue, jobStatus=status
            ):
                yield Job(job_id=each["jobId"], name=each["jobName"], status=each["status"])

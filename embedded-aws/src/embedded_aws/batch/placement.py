"""What a job can be placed on, and how long it may wait for that.

Batch user guide: jobs of a queue start in the order in which they became RUNNABLE, unless the queue
has a scheduling policy (not looked at here); queues of higher priority come first;
jobStateTimeLimitActions cancel the job at the head that waited too long for one reason. Documented:
a multi-node job does not run on Spot; inferred: one that waits when its queue gets such an
environment waits on, and the reason. Inferred: a job waits for instances without a job that are
being launched. Only the first enabled compute environment of a queue is used.
"""

from collections.abc import Iterable, Sequence

from embedded_aws.actions import Row
from embedded_aws.batch import tables
from embedded_aws.batch.idle_by_environment import IdleByEnvironment
from embedded_aws.batch.job import Job
from embedded_aws.batch.node_instances import UNDETERMINED, CannotPlace, Need, need_of, vcpus_of
from embedded_aws.batch.waiting import Waiting
from embedded_aws.clock import seconds_here

# Of all jobs at a time; each has some processes and threads.
_MOST_NODES = 256


def queue_of(job: Job) -> Row:
    """Return the queue that a job is in."""
    return tables.job_queues(job.call)[job.row["jobQueue"]]


def by_queue(waiting: Iterable[Waiting]) -> list[list[Waiting]]:
    """Return the jobs that could start, by queue, queues of higher priority first."""
    found: dict[str, list[Waiting]] = {}
    for each in waiting:
        if each.job.row["status"] == "RUNNABLE":
            found.setdefault(each.job.row["jobQueue"], []).append(each)
    return sorted(found.values(), key=lambda jobs: -queue_of(jobs[0].job)["priority"])


def need_now(job: Job, idle: IdleByEnvironment, running: Sequence[Need]) -> Need | None:
    """Return what a job needs, or None when others have that at the moment.

    Args:
        job: the first of its queue.
        idle: instances without a job.
        running: what the jobs that run have.

    Raises:
        CannotPlace: it cannot be placed as things are.
    """
    environment = _environment_of(job)
    if environment is None:
        return None
    if job.is_multinode and environment["computeResources"]["type"] == "SPOT":
        raise CannotPlace(UNDETERMINED)
    containers = [container for container in job.containers if container is not None]
    if len(containers) < len(job.containers):
        raise CannotPlace("the embedded AWS runs jobs with containerProperties only")
    need = need_of(environment, containers)
    if need.count > _MOST_NODES:
        raise CannotPlace(f"the embedded AWS runs at most {_MOST_NODES} nodes at a time")
    if sum(other.count for other in running) + need.count > _MOST_NODES:
        return None
    instances = idle.of(job.call, environment)
    if instances.launches:
        return None
    vcpus = sum(other.vcpus for other in running if other.environment is environment)
    free = sum(map(vcpus_of, instances.fitting(need)[: need.count]))
    most = environment["computeResources"]["maxvCpus"]
    return need if vcpus + need.vcpus + instances.vcpus - free <= most else None


def time_limits(waiting: Waiting) -> list[float]:
    """Return when a job's queue cancels it, by `monotonic`, if nothing changes."""
    return [
        waiting.since + seconds_here(action["maxTimeSeconds"])
        for action in queue_of(waiting.job)["jobStateTimeLimitActions"]
        if (waiting.reason or "").startswith(action["reason"])
    ]


def _environment_of(job: Job) -> Row | None:
    """Return the first enabled compute environment of a job's queue."""
    environments = tables.compute_environments(job.call)
    for entry in queue_of(job)["computeEnvironmentOrder"]:
        environment = environments.get(entry["computeEnvironment"])
        if environment and environment["state"] == "ENABLED":
            return environment
    return None

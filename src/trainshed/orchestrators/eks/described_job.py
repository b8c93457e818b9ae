"""What Kubernetes says of a job: of its JobSet, its Job and its pods, as a job of trainshed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from trainshed.jobs.model import EndCause, Ending, Job, JobNode, JobState, ListedJob, LogStream
from trainshed.kubernetes.queue import QUEUE_LABEL
from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.orchestrators.eks.jobset import ATTEMPT, NAME

# Why somebody ended a job: JobSet itself knows no such end.
ENDED = "trainshed/ended"
_INDEX = "batch.kubernetes.io/job-completion-index"
# A job that waits for its turn, in `status`; JobSet says that it is suspended.
QUEUED = "Queued"
_STATES = {"Completed": JobState.SUCCEEDED, "Failed": JobState.FAILED}
_PHASES = {
    "Running": JobState.RUNNING,
    "Succeeded": JobState.SUCCEEDED,
    "Failed": JobState.FAILED,
}
_OVER = ("Completed", "Failed", "Suspended")
# CRI: a container that ran has these, and its exit code says more.
_BY_ITSELF = ("Completed", "Error")
# Until it is pulled: Kubernetes, "Pod Lifecycle", has no reason of its own for that.
_PULLS = "ContainerCreating"
# By the policy of our JobSets. The pods of that attempt are deleted.
_AGAIN = Ending(
    exit_code=None,
    reason=None,
    status_reason="JobSet started all nodes again: one was lost, could not start, or ended with "
    f"exit code {PEER_LOST}",
    cause=None,
)
_Object = Mapping[str, Any]


def is_job(jobset: _Object) -> bool:
    """Return whether trainshed made a JobSet; others may have any form."""
    return NAME in jobset["metadata"].get("annotations", {})


def read_listed(jobset: _Object) -> ListedJob:
    """Return a job among others."""
    metadata = jobset["metadata"]
    return ListedJob(
        job_id=metadata["name"],
        name=metadata["annotations"][NAME],
        status=_status(jobset),
        reason=_ended(jobset),
        nodes=_nodes(jobset),
        created_at=_time(metadata["creationTimestamp"]),
    )


def is_over(jobset: _Object) -> bool:
    """Return whether a job is over."""
    return _ended(jobset) is not None or jobset.get("status", {}).get("terminalState") in _STATES


def requests(jobset: _Object) -> Mapping[str, str]:
    """Return what each pod of a job asks for, by resource."""
    [container] = _job_spec(jobset)["template"]["spec"]["containers"]
    found: Mapping[str, str] = container["resources"]["requests"]
    return found


def is_queued(jobset: _Object) -> bool:
    """Return whether Kueue decides when a job has nodes."""
    return QUEUE_LABEL in jobset["metadata"].get("labels", {})


def read_job(
    jobset: _Object, job: _Object | None, pods: Iterable[_Object], workload: _Object | None
) -> Job:
    """Return a job with its nodes.

    Args:
        jobset: of the job.
        job: the Job that the JobSet has now; None while it has none.
        pods: of it that are there.
        workload: by which Kueue knows it; None without a queue.
    """
    listed, spec = read_listed(jobset), _job_spec(jobset)
    restarts = jobset.get("status", {}).get("restarts", 0)
    # The attempt before may not be gone yet.
    latest = {_index(pod): pod for pod in pods if _attempt(pod) == restarts}
    state = _state(jobset, [*latest.values()])
    failure = _condition(job, "Failed")
    cause = _cause(jobset, failure)
    ended = listed.reason or failure.get("message")
    gone = Ending(exit_code=None, reason=None, status_reason=ended, cause=cause)
    before = (_AGAIN,) * restarts
    nodes = tuple(
        _node(index, latest.get(index), gone if state.is_over else None, before)
        for index in range(listed.nodes)
    )
    attempts = [*before]
    if state.is_over:
        failed = (node.ending for node in nodes if node.ending and node.ending.exit_code)
        attempts.append(next(failed, nodes[0].ending or gone))
    [container] = spec["template"]["spec"]["containers"]
    return Job(
        job_id=listed.job_id,
        name=listed.name,
        state=state,
        status=listed.status,
        reason=ended
        if state.is_over
        else _unplaced(latest.values()) or _not_started(latest.values()) or _in_queue(workload),
        cause=cause,
        created_at=listed.created_at,
        started_at=nodes[0].started_at,
        stopped_at=_over_at(jobset) if state.is_over else None,
        attempts=tuple(attempts),
        most_attempts=jobset["spec"]["failurePolicy"]["maxRestarts"] + 1,
        node_count=listed.nodes,
        node_vcpus=int(requests(jobset)["cpu"]),
        image=container["image"],
        log_group="",
        depends_on=(),
        timeout_seconds=spec["activeDeadlineSeconds"],
        nodes=nodes,
    )


def _status(jobset: _Object) -> str:
    """Return in words of Kubernetes how far a job is: JobSet's own when it is over."""
    status = jobset.get("status", {})
    if over := status.get("terminalState"):
        return str(over)
    if jobset["spec"].get("suspend"):
        return QUEUED if is_queued(jobset) and _ended(jobset) is None else "Suspended"
    ready = any(each.get("ready") for each in status.get("replicatedJobsStatus", []))
    return "Running" if ready else "Pending"


def _state(jobset: _Object, pods: Sequence[_Object]) -> JobState:
    if _ended(jobset) is not None:
        return JobState.FAILED
    if over := _STATES.get(_status(jobset)):
        return over
    if jobset["spec"].get("suspend"):
        return JobState.QUEUED if is_queued(jobset) else JobState.PENDING
    # Without pods, Kubernetes has not looked at it.
    if not pods:
        return JobState.PENDING
    if len(pods) < _nodes(jobset) or not all(pod["spec"].get("nodeName") for pod in pods):
        return JobState.QUEUED
    if all(pod.get("status", {}).get("phase") == "Pending" for pod in pods):
        return JobState.STARTING
    return JobState.RUNNING


def _ended(jobset: _Object) -> str | None:
    """Return why somebody ended a job that was not over; None when nobody did."""
    if jobset.get("status", {}).get("terminalState"):
        return None
    annotations = jobset["metadata"].get("annotations", {})
    return annotations.get(ENDED) if jobset["spec"].get("suspend") else None


def _cause(jobset: _Object, failure: Mapping[str, str]) -> EndCause | None:
    if _ended(jobset) is not None:
        return EndCause.STOPPED
    return EndCause.TIMED_OUT if failure.get("reason") == "DeadlineExceeded" else None


def _unplaced(pods: Iterable[_Object]) -> str | None:
    """Return what the scheduler says of the first pod for which it has no node."""
    for pod in pods:
        placed = _condition(pod, "PodScheduled", "False")
        if placed.get("message"):
            return placed["message"]
    return None


def _not_started(pods: Iterable[_Object]) -> str | None:
    """Return what a kubelet says of the first pod whose container it cannot start."""
    for pod in pods:
        waiting = _container(pod).get("waiting", {})
        if waiting.get("message"):
            return f"{waiting['reason']}: {waiting['message']}"
    return None


def _in_queue(workload: _Object | None) -> str | None:
    """Return why Kueue does not let a job begin, and why it stopped it if it did."""
    waits = _condition(workload, "QuotaReserved", "False").get("message")
    stopped = _condition(workload, "Evicted").get("message")
    return "; ".join(filter(None, (waits, stopped))) or None


def _container(pod: _Object | None) -> _Object:
    """Return the state of the container of a pod; empty before its kubelet has seen it."""
    statuses: list[_Object] = (pod or {}).get("status", {}).get("containerStatuses", [])
    return statuses[0].get("state", {}) if statuses else {}


def _node(
    index: int, pod: _Object | None, gone: Ending | None, before: tuple[Ending, ...]
) -> JobNode:
    """Return a node.

    Args:
        index: of it.
        pod: its pod, if that is there: Kubernetes deletes those that run when their job ends.
        gone: how a node without a pod ended; None when the job is not over.
        before: how the attempts before ended.
    """
    status, container = (pod or {}).get("status", {}), _container(pod)
    terminated = container.get("terminated", {})
    state = _PHASES.get(status.get("phase", ""))
    if state is None:
        placed = pod is not None and "nodeName" in pod["spec"]
        state = JobState.STARTING if placed else JobState.QUEUED
    ending = None
    if state.is_over:
        ending = _ending(status, terminated)
    elif gone:
        state, ending = JobState.FAILED, gone
    started = (terminated or container.get("running", {})).get("startedAt")
    return JobNode(
        index=index,
        is_main=index == 0,
        state=state,
        status=status.get("phase", "Deleted" if gone else "Pending"),
        pulls_image=container.get("waiting", {}).get("reason") == _PULLS,
        address=status.get("podIP"),
        started_at=started and _time(started),
        stopped_at=terminated.get("finishedAt") and _time(terminated["finishedAt"]),
        ending=ending,
        log=_log(pod) if pod and started else None,
        past_logs=(),
        attempts=(*before, ending) if ending else before,
        host=(pod or {}).get("spec", {}).get("nodeName", ""),
    )


def _log(pod: _Object) -> LogStream:
    return LogStream(group=pod["metadata"]["namespace"], name=pod["metadata"]["name"])


def _ending(status: _Object, terminated: _Object) -> Ending:
    """Return how a pod ended, which may be without a container."""
    lost = _condition({"status": status}, "DisruptionTarget", "True")
    reason = terminated.get("reason")
    said = [reason, terminated.get("message")] if reason not in (None, *_BY_ITSELF) else []
    return Ending(
        exit_code=terminated.get("exitCode"),
        reason=": ".join(filter(None, said)) or None,
        status_reason=lost.get("message") or status.get("message"),
        cause=EndCause.HOST_ENDED if lost else None,
    )


def _over_at(jobset: _Object) -> datetime | None:
    conditions = jobset.get("status", {}).get("conditions", [])
    over = [each for each in conditions if each["type"] in _OVER and each["status"] == "True"]
    return max((_time(each["lastTransitionTime"]) for each in over), default=None)


def _condition(found: _Object | None, kind: str, status: str = "True") -> Mapping[str, str]:
    """Return a condition of an object; empty when it has none of that status."""
    conditions = (found or {}).get("status", {}).get("conditions", [])
    return next(
        (each for each in conditions if (each["type"], each["status"]) == (kind, status)), {}
    )


def _job_spec(jobset: _Object) -> _Object:
    [replicated] = jobset["spec"]["replicatedJobs"]
    spec: _Object = replicated["template"]["spec"]
    return spec


def _nodes(jobset: _Object) -> int:
    return int(_job_spec(jobset)["completions"])


def _index(pod: _Object) -> int:
    return int(pod["metadata"]["labels"][_INDEX])


def _attempt(pod: _Object) -> int:
    return int(pod["metadata"]["labels"][ATTEMPT])


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)

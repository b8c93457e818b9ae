"""Compute environments that a cluster had before, in which jobs may still run.

`trainshed apply --blue-green` leaves one beside the stack until its jobs are over. It is found by
the instance role, which it has in common with the environment of the stack.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainshed.aws import Region
from trainshed.errors import Failure, one_line
from trainshed.orchestrators.batch.described_job import STARTED
from trainshed.orchestrators.batch.queue_environments import Described

_CURRENT = "ComputeEnvironment"
OUTPUTS = frozenset({_CURRENT, "JobQueue"})
"""Of a cluster's stack: ARNs of its environment and of its queue."""
_PAUSE_SECONDS = 5
# AWS Batch API reference, DescribeJobs: "A list of up to 100 job IDs".
_DESCRIBED_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerEnvironment:
    """A compute environment that the cluster had before.

    Attributes:
        name: its name.
        jobs: names of jobs that run in it, or of which AWS Batch does not say yet where they do.
    """

    name: str
    jobs: tuple[str, ...]


def former_environments(
    region: Region, outputs: Mapping[str, str]
) -> tuple[FormerEnvironment, ...]:
    """Return the environments that a cluster had before.

    Args:
        region: the cluster's.
        outputs: of its stack.
    """
    current = outputs[_CURRENT]
    former = [
        each for each in with_former(region, current) if each["computeEnvironmentArn"] != current
    ]
    if not former:
        return ()
    places = list(_places(region, outputs["JobQueue"]))
    return tuple(
        FormerEnvironment(
            name=each["computeEnvironmentName"],
            jobs=tuple(
                name for name, host in places if host is None or _cluster(each) in host.split("/")
            ),
        )
        for each in former
    )


def with_former(region: Region, *arns: str) -> tuple[Described, ...]:
    """Return environments of a cluster, and those that it had before.

    Args:
        region: the cluster's.
        arns: of its environments.
    """
    described: list[Described] = list(
        region.pages("batch", "describe_compute_environments", "computeEnvironments")
    )
    roles = {_role(each) for each in described if each["computeEnvironmentArn"] in arns} - {None}
    return tuple(
        each for each in described if each["computeEnvironmentArn"] in arns or _role(each) in roles
    )


def remove_former(region: Region, name: str, show: Callable[[str], None]) -> None:
    """Delete an environment that no queue has.

    AWS Batch API reference, DeleteComputeEnvironment: it must be disabled before.

    Args:
        region: where it is.
        name: its name.
        show: gets each step, and an empty text while nothing new happens.

    Raises:
        Failure: AWS Batch does not delete it.
    """
    show(f"{name}: disabling")
    region.call("batch", "update_compute_environment", computeEnvironment=name, state="DISABLED")
    while (found := _described(region, name)) and found["status"] == "UPDATING":
        show("")
        time.sleep(_PAUSE_SECONDS)
    show(f"{name}: deleting")
    region.call("batch", "delete_compute_environment", computeEnvironment=name)
    while (found := _described(region, name)) and found["status"] != "DELETED":
        if found["status"] == "INVALID":
            reason = found.get("statusReason", "it is INVALID")
            raise Failure(f"AWS Batch does not delete {name}: {one_line(reason)}")
        show("")
        time.sleep(_PAUSE_SECONDS)


def _described(region: Region, name: str) -> dict[str, Any] | None:
    answer = region.call("batch", "describe_compute_environments", computeEnvironments=[name])
    found: list[dict[str, Any]] = answer["computeEnvironments"]
    return found[0] if found else None


def _role(environment: Described) -> str | None:
    role: str | None = environment.get("computeResources", {}).get("instanceRole")
    return role


def _cluster(environment: Described) -> str:
    """Return the name of the ECS cluster that AWS Batch has made for an environment."""
    return str(environment.get("ecsClusterArn", "")).rpartition("/")[2]


def _places(region: Region, queue: str) -> Iterator[tuple[str, str | None]]:
    """Yield the jobs that have begun, each with the ARN of the host of its main node."""
    for status in STARTED:
        listed = list(
            region.pages("batch", "list_jobs", "jobSummaryList", jobQueue=queue, jobStatus=status)
        )
        for start in range(0, len(listed), _DESCRIBED_AT_ONCE):
            ids = [_main(each) for each in listed[start : start + _DESCRIBED_AT_ONCE]]
            hosts = {
                each["jobId"]: each.get("container", {}).get("containerInstanceArn")
                for each in region.call("batch", "describe_jobs", jobs=ids)["jobs"]
            }
            for each in listed[start : start + _DESCRIBED_AT_ONCE]:
                yield each["jobName"], hosts.get(_main(each))


def _main(summary: Mapping[str, Any]) -> str:
    """Return the id of a job's main node, or of the job if it has no nodes of its own.

    Our job definitions have node 0 as the main node. AWS Batch user guide, "Multi-node parallel
    jobs": nodes are described as ID#N.
    """
    return f"{summary['jobId']}#0" if "nodeProperties" in summary else str(summary["jobId"])

"""Batch jobs: accepted, listed and cancelled, but never run.

A job that Batch would accept stays RUNNABLE until it is cancelled or terminated; `statusReason`
says so.
[S] Multi-node parallel jobs are not supported on Spot, Fargate, ECS managed instances or unmanaged
compute environments. AWS has accepted such a job and left it RUNNABLE for ever
(aws-parallelcluster issue 2098); here SubmitJob refuses it.
[S] "NodeOverride targets should match job definition"; rules of numNodes; array sizes 2 to 10,000;
a queue takes jobs only when ENABLED. [I] The other words.
"""

import time
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, action
from embedded_aws.batch import compute_environments, job_definitions, job_queues, tables
from embedded_aws.batch.node_properties import check_override
from embedded_aws.batch.refusals import check_name, refuse

# A job, as DescribeJobs returns it.
Job = dict[str, Any]

_WAITING = "nothing runs jobs in the embedded AWS; on AWS this job would be scheduled now"


@action("batch", "SubmitJob")
def submit_job(call: Call) -> dict[str, Any]:
    """Accept a job in a queue."""
    name = call.params["jobName"]
    check_name("jobName", name)
    queue = job_queues.find(call, call.params["jobQueue"])
    if queue["state"] != "ENABLED":
        raise refuse(f"Job queue {queue['jobQueueName']} is disabled and takes no jobs.")
    definition = job_definitions.find(call, call.params["jobDefinition"])
    job_definitions.check_retry(call.params.get("retryStrategy", {}))
    job_definitions.check_timeout(call.params.get("timeout", {}))
    for dependency in call.params.get("dependsOn", []):
        if dependency.get("jobId") not in (None, *tables.jobs(call)):
            raise refuse(f"dependsOn: job {dependency['jobId']} does not exist.")
    job_id = str(mock_random.uuid4())
    job: Job = {
        "jobId": job_id,
        "jobArn": call.arn("batch", f"job/{job_id}"),
        "jobName": name,
        "jobQueue": queue["jobQueueArn"],
        "jobDefinition": definition["jobDefinitionArn"],
        "status": "PENDING" if call.params.get("dependsOn") else "RUNNABLE",
        "statusReason": _WAITING,
        "createdAt": int(time.time() * 1000),
        "attempts": [],
        "dependsOn": call.params.get("dependsOn", []),
        "parameters": {**definition.get("parameters", {}), **call.params.get("parameters", {})},
        "isCancelled": False,
        "isTerminated": False,
        "tags": call.params.get("tags", {}),
    }
    for key in ("retryStrategy", "timeout"):
        if value := call.params.get(key) or definition.get(key):
            job[key] = value
    job |= _multinode(call, queue, definition) if definition["type"] == "multinode" else {}
    if size := call.params.get("arrayProperties", {}).get("size"):
        if definition["type"] == "multinode" or not 2 <= size <= 10000:
            raise refuse("An array job is of type container and has 2 to 10000 children.")
        job["arrayProperties"] = {"size": size, "statusSummary": {"RUNNABLE": size}}
    if "containerProperties" in definition:
        overrides = call.params.get("containerOverrides", {})
        job["container"] = {**definition["containerProperties"], **overrides}
    tables.jobs(call)[job_id] = job
    call.backend("batch").tag_resource(job["jobArn"], job["tags"])
    return {"jobArn": job["jobArn"], "jobId": job_id, "jobName": name}


def _multinode(
    call: Call, queue: job_queues.Queue, definition: job_definitions.Definition
) -> dict[str, Any]:
    """Return the other fields of a multi-node job, after checking that its queue can run it."""
    if call.params.get("containerOverrides"):
        raise refuse("containerOverrides are not for multi-node parallel jobs; use nodeOverrides.")
    for entry in queue["computeEnvironmentOrder"]:
        environment = compute_environments.find(call, entry["computeEnvironment"])
        kind = environment.get("computeResources", {"type": "UNMANAGED"})["type"]
        if kind != "EC2":
            raise refuse(
                "Multi-node parallel jobs are not supported on compute environments of type "
                f"{kind}: {environment['computeEnvironmentName']}."
            )
    nodes = definition["nodeProperties"]
    overrides = call.params.get("nodeOverrides", {})
    targets = {override["targetNodes"] for override in overrides.get("nodePropertyOverrides", [])}
    if strange := sorted(
        targets - {group["targetNodes"] for group in nodes["nodeRangeProperties"]}
    ):
        raise refuse(
            "NodeOverride targets should match job definition. Non matching targets - "
            f"{', '.join(strange)}"
        )
    count = overrides.get("numNodes")
    if count is not None:
        check_override(nodes, count)
        nodes = {**nodes, "numNodes": count}
    return {"nodeProperties": nodes}


@action("batch", "DescribeJobs")
def describe_jobs(call: Call) -> dict[str, Any]:
    """Describe jobs by id or ARN; unknown ones are left out."""
    named = set(call.params["jobs"])
    return {
        "jobs": [job for job in tables.jobs(call).values() if {job["jobId"], job["jobArn"]} & named]
    }


@action("batch", "ListJobs")
def list_jobs(call: Call) -> dict[str, Any]:
    """List the jobs of a queue by status; by default RUNNING."""
    if "jobQueue" not in call.params:
        return {"jobSummaryList": []}
    queue = job_queues.find(call, call.params["jobQueue"])["jobQueueArn"]
    names = [
        value
        for wanted in call.params.get("filters", [])
        if wanted["name"] == "JOB_NAME"
        for value in wanted["values"]
    ]
    status = call.params.get("jobStatus", "RUNNING")
    found = [
        job
        for job in tables.jobs(call).values()
        if job["jobQueue"] == queue
        # [S] A filter replaces the status.
        and (_is_named(job, names) if names else job["status"] == status)
    ]
    return {"jobSummaryList": found}


def _is_named(job: Job, names: list[str]) -> bool:
    own = job["jobName"].lower()
    return any(
        own.startswith(name[:-1].lower()) if name.endswith("*") else own == name.lower()
        for name in names
    )


@action("batch", "CancelJob", "TerminateJob")
def stop_job(call: Call) -> dict[str, Any]:
    """Fail a job with the caller's reason; an ended job does not change."""
    if not call.params.get("reason"):
        raise refuse("reason must be provided.")
    job = tables.jobs(call).get(call.params["jobId"])
    if job is None:
        raise refuse(f"Job {call.params['jobId']} does not exist.")
    if job["status"] != "FAILED":
        terminated = call.operation == "TerminateJob"
        job.update(
            status="FAILED",
            statusReason=call.params["reason"],
            stoppedAt=int(time.time() * 1000),
            isTerminated=terminated,
            isCancelled=not terminated,
        )
    return {}

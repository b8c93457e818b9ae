"""Jobs of AWS Batch."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from trainshed.aws import Region, accepting
from trainshed.errors import TrainshedError
from trainshed.jobs.cloudwatch import CloudWatchLogs
from trainshed.jobs.model import Job, ListedJob
from trainshed.jobs.scheduler import Scheduler
from trainshed.jobs.submission import Submission
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.questions import Questions
from trainshed.orchestrators.batch import job_definitions
from trainshed.orchestrators.batch.described_job import (
    OVER,
    STARTED,
    WAITING,
    node_count,
    read_job,
    read_listed,
)
from trainshed.orchestrators.batch.evidence import gather
from trainshed.orchestrators.batch.traits import JOB_TYPE_OUTPUT, SERVICE, SINGLE_NODE

# AWS Batch API reference, DescribeJobs: "A list of up to 100 job IDs".
_DESCRIBED_AT_ONCE = 100
_SHORTEST_SECONDS = 60
# The one group of nodes of our job definitions; an override has to name it as it stands there.
_ALL_NODES = "0:"
# Of a cluster's stack; without one of these, it is not that of a cluster.
OUTPUTS = frozenset({"JobDefinition", "JobQueue"})


def connect(region: Region, cluster: str, outputs: Mapping[str, str]) -> Scheduler:
    """Return what runs the jobs of a cluster.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
    """
    return BatchScheduler(
        region=region,
        cluster=cluster,
        outputs=outputs,
        queue=outputs["JobQueue"],
        definition=outputs["JobDefinition"],
        multi_node=outputs.get(JOB_TYPE_OUTPUT) != SINGLE_NODE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchScheduler:
    """Submits the jobs of a cluster to its queue.

    Attributes:
        service: name of the AWS service, for messages.
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
        queue: ARN of its job queue.
        definition: ARN of its job definition, with the revision.
        multi_node: it is one of multi-node parallel jobs.
    """

    service: ClassVar[str] = SERVICE

    region: Region
    cluster: str
    outputs: Mapping[str, str]
    queue: str
    definition: str
    multi_node: bool

    @property
    def logs(self) -> CloudWatchLogs:
        """Reads what they print."""
        return CloudWatchLogs(region=self.region)

    def submit(self, submission: Submission) -> str:
        """Submit a job; return its id.

        Raises:
            TrainshedError: AWS Batch would refuse it.
        """
        _check(submission)
        limit = submission.timeout_seconds
        definition = self.definition
        if submission.files:
            definition = job_definitions.register_with_files(
                self.region, definition, submission.files
            )
        answer = self.region.call(
            "batch",
            "submit_job",
            jobName=submission.name,
            jobQueue=self.queue,
            jobDefinition=definition,
            **self._overrides(submission),
            **({} if limit is None else {"timeout": {"attemptDurationSeconds": limit}}),
        )
        return str(answer["jobId"])

    def jobs(self, *, unfinished: bool = False) -> list[ListedJob]:
        """Return its jobs, the newest first; AWS Batch forgets those that are over after days.

        Args:
            unfinished: only those that are not over.
        """
        found = [
            job
            for status in (*WAITING, *STARTED, *(() if unfinished else OVER))
            for job in self._listed(jobStatus=status)
        ]
        return sorted(found, key=lambda job: job.created_at, reverse=True)

    def job(self, name: str) -> Job | None:
        """Return a job of the queue by its id, or the newest of a name; None when there is none."""
        if found := self._by_id(name):
            return found
        # AWS Batch matches a name in any case, and its beginning when it ends with an asterisk.
        filters = [{"name": "JOB_NAME", "values": [name]}]
        named = [job for job in self._listed(filters=filters) if job.name == name]
        newest = max(named, key=lambda job: job.created_at, default=None)
        return self._by_id(newest.job_id) if newest else None

    def end(self, job: Job, reason: str) -> None:
        """End a job; running containers get SIGTERM.

        TerminateJob alone does both, by AWS Batch's API reference: "Jobs that have not progressed
        to the STARTING state are cancelled."

        Args:
            job: the job.
            reason: its statusReason from then on.
        """
        self.region.call("batch", "terminate_job", jobId=job.job_id, reason=reason)

    def tidy(self) -> None:
        """Deregister the job definitions of submissions with files."""
        job_definitions.deregister_with_files(self.region, self.definition)

    def most_nodes(self) -> int:
        """Return how many nodes its jobs may have."""
        return job_definitions.most_nodes(self.region, self.definition) if self.multi_node else 1

    def evidence(self, job: Job, now: datetime, questions: Questions) -> Evidence:
        """Return what AWS says about a job, its queue, and the nodes that the queue launches."""
        none: list[ListedJob] = []
        others = questions.ask(lambda: self.jobs(unfinished=True), none)
        evidence = Evidence(service=self.service, region=self.region.name, job=job, now=now)
        return gather(self.region, self.queue, others, evidence, questions)

    def _overrides(self, submission: Submission) -> Mapping[str, Any]:
        """Return what a submission changes of the job definition."""
        container = {
            "command": list(submission.command),
            "environment": [
                {"name": name, "value": value} for name, value in submission.environment.items()
            ],
        }
        if not self.multi_node:
            return {"containerOverrides": container}
        own = {"targetNodes": _ALL_NODES, "containerOverrides": container}
        nodes = {"numNodes": submission.nodes, "nodePropertyOverrides": [own]}
        return {"nodeOverrides": nodes}

    def _listed(self, **which: Any) -> list[ListedJob]:
        # A queue that was deleted has no jobs.
        with accepting("ClientException", saying="does not exist"):
            summaries = self.region.pages(
                "batch", "list_jobs", "jobSummaryList", jobQueue=self.queue, **which
            )
            return [read_listed(each) for each in summaries]
        return []

    def _by_id(self, job_id: str) -> Job | None:
        found = [each for each in self._describe([job_id]) if each["jobQueue"] == self.queue]
        if not found:
            return None
        [described] = found
        nodes: list[dict[str, Any]] = []
        if "nodeProperties" in described:
            # AWS Batch user guide, "Multi-node parallel jobs": nodes are described as ID#N.
            ids = [f"{described['jobId']}#{index}" for index in range(node_count(described))]
            nodes = self._describe(ids)
        return read_job(described, nodes)

    def _describe(self, ids: list[str]) -> list[dict[str, Any]]:
        found = []
        for start in range(0, len(ids), _DESCRIBED_AT_ONCE):
            some = ids[start : start + _DESCRIBED_AT_ONCE]
            found += self.region.call("batch", "describe_jobs", jobs=some)["jobs"]
        # Not in the order in which they were asked for.
        return sorted(found, key=lambda each: each.get("nodeDetails", {}).get("nodeIndex", 0))


def _check(submission: Submission) -> None:
    """Refuse what AWS Batch would refuse.

    Its API reference, JobTimeout; its user guide, "AWS Batch job environment variables".
    """
    for name in submission.environment:
        if name.startswith("AWS_BATCH"):
            raise TrainshedError(
                f"variable {name}: names that begin with AWS_BATCH are AWS Batch's own; rename it"
            )
    limit = submission.timeout_seconds
    if limit is not None and limit < _SHORTEST_SECONDS:
        raise TrainshedError(
            f"a time-out of {limit} seconds is too short; AWS Batch takes {_SHORTEST_SECONDS} or "
            "more"
        )

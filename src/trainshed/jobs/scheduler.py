"""What runs the jobs of a cluster, whichever orchestrator that is."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from trainshed.account.deployed_stacks import all_outputs, find_stack
from trainshed.aws import AwsRefusal, Region
from trainshed.errors import Failure, TrainshedError
from trainshed.jobs.model import Job, ListedJob, LogPage, LogStream
from trainshed.jobs.submission import Submission, job_name
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.questions import Questions
from trainshed.orchestrators import ORCHESTRATOR_OUTPUT, Orchestrator, part


class UnseenJobs(Failure):
    """The jobs of a deployed cluster cannot be looked at, though there may be some."""


class Logs(Protocol):
    """Reads what nodes print; a stream that is not there has no lines."""

    def page(self, stream: LogStream, token: str | None) -> LogPage:
        """Return a page of a stream.

        Args:
            stream: the stream.
            token: `next_token` of the page before; None for the first page.
        """

    def end(self, stream: LogStream, most: int) -> LogPage:
        """Return the last entries of a stream.

        Args:
            stream: the stream.
            most: so many entries at most; one may have several lines.
        """


class Scheduler(Protocol):
    """What runs the jobs of one cluster."""

    @property
    def service(self) -> str:
        """Name of the AWS service, for messages."""

    @property
    def region(self) -> Region:
        """Where its jobs run."""

    @property
    def logs(self) -> Logs:
        """Reads what they print."""

    @property
    def cluster(self) -> str:
        """Name of the cluster."""

    @property
    def outputs(self) -> Mapping[str, str]:
        """The outputs of the cluster's stack."""

    def submit(self, submission: Submission) -> str:
        """Submit a job; return its id.

        Raises:
            TrainshedError: the service would refuse it.
            Failure: the nodes that it needs are not there.
        """

    def jobs(self, *, unfinished: bool = False) -> list[ListedJob]:
        """Return the cluster's jobs, the newest first.

        Args:
            unfinished: only those that are not over.
        """

    def job(self, name: str) -> Job | None:
        """Return a job with its nodes; None when there is none.

        Args:
            name: its id, or its name: the newest job of that name.
        """

    def end(self, job: Job, reason: str) -> None:
        """End a job that is not over; what runs gets SIGTERM.

        Args:
            job: the job.
            reason: why, where the service keeps it.
        """

    def tidy(self) -> None:
        """Remove what submissions have left on AWS, when the cluster's stack is gone."""

    def most_nodes(self) -> int:
        """Return how many nodes its jobs may have."""

    def evidence(self, job: Job, now: datetime, questions: Questions) -> Evidence:
        """Return what AWS says about a job and what it needs, without what its nodes have printed.

        Args:
            job: the job.
            now: the time.
            questions: ask them, and note what AWS refuses.
        """


def scheduler_of(region: Region, cluster: str, outputs: Mapping[str, str]) -> Scheduler | None:
    """Return what runs the jobs of a cluster; None when a stack with these outputs has no jobs.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.

    Raises:
        UnseenJobs: they cannot be looked at.
    """
    orchestrator = orchestrator_of(outputs)
    if orchestrator is None:
        return None
    found: Scheduler = part(orchestrator, "scheduler").connect(region, cluster, outputs)
    return found


def orchestrator_of(outputs: Mapping[str, str]) -> Orchestrator | None:
    """Return what starts the jobs of a deployed cluster, which its file may have changed since.

    Args:
        outputs: of its stack; those of another stack are of none.
    """
    name = outputs.get(ORCHESTRATOR_OUTPUT)
    if name not in set(Orchestrator):
        return None
    orchestrator = Orchestrator(name)
    # Stacks that are not ours may have an output of this name, too.
    return orchestrator if outputs.keys() >= part(orchestrator, "scheduler").OUTPUTS else None


def find_scheduler(region: Region, cluster: str) -> Scheduler:
    """Find what runs the jobs of a deployed cluster.

    Args:
        region: the cluster's.
        cluster: its name, which is that of its stack.

    Raises:
        Failure: it is not deployed, or not wholly.
    """
    stack = find_stack(region, cluster)
    if stack is None:
        raise Failure(
            f"{cluster} is not deployed in {region.name}; deploy it: npx cdk deploy {cluster}"
        )
    found = scheduler_of(region, cluster, stack.outputs)
    if found is None:
        again = f"deploy it again: npx cdk deploy {cluster}"
        raise Failure(
            f"the stack {cluster} in {region.name} is {stack.status} and has no outputs for jobs; "
            f"{'wait until that is over' if stack.is_at_work else again}"
        )
    return found


def find_job(region: Region, job: str) -> tuple[Scheduler, Job]:
    """Find a job among those of all deployed clusters; return what runs it, and the job.

    Args:
        region: where it is.
        job: its id, its name, or that of the ready job that made it: the newest job of that name.

    Raises:
        AwsRefusal: it is not among those of the clusters whose jobs the credentials may see.
        UnseenJobs: the same, of a cluster whose jobs cannot be looked at.
        TrainshedError: there is none.
    """
    name = job_name(job)
    named: list[tuple[Scheduler, Job]] = []
    refusals: list[Failure] = []
    for cluster, outputs in all_outputs(region):
        try:
            scheduler = scheduler_of(region, cluster, outputs)
            found = scheduler.job(name) if scheduler else None
        except (AwsRefusal, UnseenJobs) as error:
            # Who uses one cluster needs no permissions for the others.
            refusals.append(error)
            continue
        if scheduler is None:
            continue
        if found and found.job_id == name:
            return scheduler, found
        if found:
            named.append((scheduler, found))
    if named:
        return max(named, key=lambda each: each[1].created_at)
    if refusals:
        raise refusals[0]
    raise TrainshedError(
        f"no job has the id or the name {job!r} in {region.name}; AWS forgets jobs some days after "
        "their end: trainshed job list CLUSTER shows those that it knows"
    )


def end_job(scheduler: Scheduler, job: Job, reason: str) -> None:
    """End a job, whatever state it is in; what runs gets SIGTERM.

    Args:
        scheduler: what runs it.
        job: the job.
        reason: why, where the service keeps it.

    Raises:
        Failure: it is over.
    """
    if job.state.is_over:
        raise Failure(f"job {job.job_id} is over: it has {job.status}")
    scheduler.end(job, reason)

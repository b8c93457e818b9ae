"""Jobs on Amazon EKS: JobSets of the cluster's namespace."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import ClassVar

from trainshed.aws import AwsRefusal, Region
from trainshed.errors import Failure
from trainshed.jobs.model import Job, ListedJob
from trainshed.jobs.scheduler import Scheduler, UnseenJobs
from trainshed.jobs.submission import Submission
from trainshed.jobs.why.evidence import Evidence, Shortage
from trainshed.jobs.why.questions import Questions
from trainshed.kubernetes.client import connect as connect_client
from trainshed.kubernetes.cluster import find_cluster
from trainshed.kubernetes.jobsets import JobSets
from trainshed.kubernetes.node_group import ManagedNodeGroup, NodeGroupIssue, find_node_group
from trainshed.kubernetes.nodes import KubernetesNode, lacking
from trainshed.orchestrators.eks.described_job import (
    ENDED,
    QUEUED,
    is_job,
    is_over,
    is_queued,
    read_job,
    read_listed,
    requests,
)
from trainshed.orchestrators.eks.jobset import make_jobset
from trainshed.orchestrators.eks.pod_logs import KubeletLogs
from trainshed.orchestrators.eks.traits import SERVICE

# Of a cluster's stack; without one of these, it is not that of a cluster.
OUTPUTS = frozenset({"EksCluster", "Image", "Namespace", "NodeGroup"})


def connect(region: Region, cluster: str, outputs: Mapping[str, str]) -> Scheduler:
    """Return what runs the jobs of a cluster; its API server is not asked yet.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
    """

    @cache
    def jobsets() -> JobSets:
        eks = find_cluster(region, outputs["EksCluster"])
        return JobSets(
            client=connect_client(eks), eks=eks, cluster=cluster, namespace=outputs["Namespace"]
        )

    return EksScheduler(
        region=region,
        cluster=cluster,
        outputs=outputs,
        eks_cluster=outputs["EksCluster"],
        node_group=outputs["NodeGroup"],
        image=outputs["Image"],
        bucket=outputs.get("Bucket"),
        jobsets=jobsets,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EksScheduler:
    """Submits the jobs of a cluster to its API server.

    Attributes:
        service: what runs the jobs, for messages.
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
        eks_cluster: name of the cluster of Amazon EKS.
        node_group: name of the group of its nodes.
        image: URI of the container image of jobs.
        bucket: name of the cluster's bucket; None without.
        jobsets: gives those of the cluster.
    """

    service: ClassVar[str] = SERVICE

    region: Region
    cluster: str
    outputs: Mapping[str, str]
    eks_cluster: str
    node_group: str
    image: str
    bucket: str | None = None
    jobsets: Callable[[], JobSets]

    @property
    def logs(self) -> KubeletLogs:
        """Reads what they print."""
        return KubeletLogs(jobsets=self.jobsets)

    def submit(self, submission: Submission) -> str:
        """Submit a job; return the name of its JobSet.

        Raises:
            Failure: JobSet or the cluster's PodTemplate is not there, or the API server refuses or
                does not answer.
        """
        jobsets = self.jobsets()
        made = make_jobset(
            submission,
            jobsets.template(),
            cluster=self.cluster,
            namespace=jobsets.namespace,
            image=self.image,
            bucket=self.bucket,
            queued=jobsets.has_queue(),
        )
        jobsets.create(made)
        return str(made["metadata"]["name"])

    def jobs(self, *, unfinished: bool = False) -> list[ListedJob]:
        """Return its jobs, the newest first; they are deleted a week after their end.

        Args:
            unfinished: only those that are not over.

        Raises:
            UnseenJobs: the API server refuses, does not answer, or is not there.
        """
        with self._looking():
            jobsets = [
                each
                for each in self.jobsets().all()
                if is_job(each) and not (unfinished and is_over(each))
            ]
        return sorted(map(read_listed, jobsets), key=lambda job: job.created_at, reverse=True)

    def job(self, name: str) -> Job | None:
        """Return a job by its id, or the newest of a name; None when there is none.

        Raises:
            UnseenJobs: the API server refuses, does not answer, or is not there.
        """
        with self._looking():
            jobsets = self.jobsets()
            found = jobsets.get(name)
            if not found:
                named = [job.job_id for job in self.jobs() if job.name == name]
                found = jobsets.get(named[0]) if named else None
            if not found or not is_job(found):
                return None
            job_id = found["metadata"]["name"]
            workload = jobsets.workload(found) if is_queued(found) else None
            return read_job(found, jobsets.job(job_id), jobsets.pods(job_id), workload)

    def end(self, job: Job, reason: str) -> None:
        """End a job: its pods get SIGTERM. The JobSet stays, suspended, with the reason.

        Raises:
            Failure: Kueue has not looked at it yet, or the API server refuses or does not answer.
        """
        jobsets = self.jobsets()
        found = jobsets.get(job.job_id)
        if found and is_queued(found):
            jobsets.take_out_of_queue(found, {ENDED: reason})
        else:
            jobsets.suspend(job.job_id, {ENDED: reason})

    def tidy(self) -> None:
        """Do nothing: what submissions leave is in the namespace."""

    def most_nodes(self) -> int:
        """Return how many nodes its jobs may have."""
        return self._group().most_nodes

    def evidence(self, job: Job, now: datetime, questions: Questions) -> Evidence:
        """Return what Kubernetes says about a job that waits: the nodes, and other jobs."""
        if not job.state.waits:
            return Evidence(service=self.service, region=self.region.name, job=job, now=now)
        none: list[ListedJob] = []
        unfinished = questions.ask(lambda: self.jobs(unfinished=True), none)
        # Kueue takes the oldest first, and of those of one second any.
        others = [
            each
            for each in unfinished
            if each.job_id != job.job_id
            and (each.status != QUEUED or each.created_at <= job.created_at)
        ]
        no_nodes: tuple[KubernetesNode, ...] | None = None
        nodes = questions.ask(lambda: self.jobsets().nodes(), no_nodes)
        jobset = questions.ask(lambda: self.jobsets().get(job.job_id), None)
        no_issues: tuple[NodeGroupIssue, ...] = ()
        return Evidence(
            service=self.service,
            region=self.region.name,
            job=job,
            now=now,
            by_kueue=job.status == QUEUED,
            placed=tuple(each for each in others if each.status != QUEUED),
            ahead=tuple(each for each in others if each.status == QUEUED),
            nodes=None if nodes is None else len(nodes),
            cordoned=sum(each.cordoned for each in nodes or ()),
            node_group_issues=questions.ask(lambda: self._group().issues, no_issues),
            shortages=tuple(_shortages(requests(jobset), nodes or ())) if jobset else (),
        )

    def _group(self) -> ManagedNodeGroup:
        return find_node_group(self.region, self.eks_cluster, self.node_group)

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Tell a failure to look at jobs from others: it must not hide those of other clusters."""
        try:
            yield
        except (AwsRefusal, UnseenJobs):
            raise
        except Failure as error:
            raise UnseenJobs(f"the jobs of {self.cluster} cannot be looked at: {error}") from error


def _shortages(asked: Mapping[str, str], nodes: tuple[KubernetesNode, ...]) -> Iterator[Shortage]:
    for each in lacking(asked, nodes):
        yield Shortage(
            node=each.node or "",
            resource=each.what,
            has=each.found,
            asked=each.planned,
            advice=each.advice,
        )

"""Why a job on Amazon EKS does not run: no nodes, or containers that do not start."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.jobs.model import JobState
from trainshed.jobs.why.capacity import launch_remedy
from trainshed.jobs.why.ended import NOT_PULLED
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.judging import jobs
from trainshed.orchestrators.eks.traits import SERVICE

_LOOK = "trainshed kube nodes CLUSTER"
_SHOWN = 3
# Reasons of a container that waits. From memory: the last one.
_NOT_PULLED = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName")


@rule(
    "TS-JOB-034",
    over=jobs,
    title="Kubernetes has no node for a pod of the job",
    severity=Severity.ERROR,
    why="""
Kubernetes has no node for a pod of the job; the message of its scheduler, or of Kueue where the job
waits in the cluster's queue, is quoted, with how many nodes the job needs and how many there are.

Every pod takes a whole node of the cluster, and the others wait for the last one.
""",
    remedy="Submit it with fewer nodes, wait for other jobs, or see by `trainshed kube nodes` why "
    "nodes are missing",
)
def unplaced(evidence: Evidence) -> Iterator[Violation]:
    """Every pod takes a whole node of the cluster, and the others wait for the last one."""
    job = evidence.job
    if evidence.service != SERVICE or not (evidence.waits and job.reason):
        return
    there = evidence.nodes
    counted = "" if there is None else f"; the job needs {job.node_count} nodes, {there} exist"
    if evidence.cordoned:
        counted += f", {evidence.cordoned} of them cordoned"
    if there is not None and (usable := there - evidence.cordoned) < job.node_count:
        fewer = f"submit it with --nodes {usable}, or " if usable else ""
        remedy = (
            f"{fewer}see why nodes are missing: {_LOOK}"
            if there < job.node_count
            else f"{fewer}wait until others take the place of those that are cordoned, or take "
            "them back: trainshed node undrain CLUSTER NODE"
        )
    elif evidence.shortages:
        remedy = f"see what each node has: {_LOOK}"
    elif evidence.by_kueue:
        remedy = "wait for the jobs that have the nodes, or end one: trainshed job cancel JOB"
    else:
        remedy = f"see whether each node has what a pod asks for: {_LOOK}"
    who = "Kueue" if evidence.by_kueue else evidence.service
    yield Violation(message=f"{who} says: {job.reason.rstrip('.')}{counted}", remedy=remedy)


@rule(
    "TS-JOB-035",
    over=jobs,
    title="The node group is not healthy",
    severity=Severity.ERROR,
    why="""
EKS has not all nodes of the group, or they do not join; its message is quoted, which quotes EC2.

A job waits until there are as many nodes as it has pods.
""",
    remedy="Do what the finding says about the message",
    sources=("https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html",),
)
def unhealthy_group(evidence: Evidence) -> Iterator[Violation]:
    """A job waits until there are as many nodes as it has pods."""
    for each in evidence.node_group_issues:
        yield Violation(message=str(each), remedy=launch_remedy(each.message))


@rule(
    "TS-JOB-036",
    over=jobs,
    title="Nodes have less than a pod of the job asks for",
    severity=Severity.ERROR,
    why="""
Nodes have less of a resource than a pod of the job asks for, whatever runs on them.

A node has the accelerators that its device plugin announces. Kubernetes gives it no pod that asks
for more.
""",
    remedy="Do what the finding says about the resource",
    sources=(
        "https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/",
    ),
)
def shortages(evidence: Evidence) -> Iterator[Violation]:
    """Kubernetes gives a node no pod that asks for more than the node has."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for each in evidence.shortages:
        same = (each.resource, each.has, each.asked, each.advice)
        alike.setdefault(same, []).append(each.node)
    for (resource, has, asked, advice), nodes in alike.items():
        more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
        yield Violation(
            message=f"{', '.join(nodes[:_SHOWN])}{more}: {resource} is {has}, and a pod of the "
            f"job asks for {asked}",
            remedy=f"{advice}; all nodes: {_LOOK}",
        )


@rule(
    "TS-JOB-037",
    over=jobs,
    title="A kubelet cannot start a container",
    severity=Severity.ERROR,
    why="""
A node cannot start the container of its pod; the message of its kubelet is quoted.

The kubelet tries again and again, and the pod does not fail: the other nodes wait for it, and are
billed.
""",
    remedy="Do what the finding says about the message",
    sources=("https://kubernetes.io/docs/concepts/containers/images/#imagepullbackoff",),
)
def not_started(evidence: Evidence) -> Iterator[Violation]:
    """The kubelet tries again and again, and the pod does not fail."""
    job = evidence.job
    if evidence.service != SERVICE or job.state is not JobState.STARTING or not job.reason:
        return
    remedy = (
        NOT_PULLED.format(image=job.image)
        if any(each in job.reason for each in _NOT_PULLED)
        else f"end the job: trainshed job cancel {job.job_id}; fix what the message names"
    )
    yield Violation(
        message=f"a container does not start: {job.reason.rstrip('.')}",
        remedy=remedy,
    )

"""Why Kubernetes has no nodes for a job."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.judging import jobs
from trainshed.orchestrators.eks.traits import SERVICE

_LOOK = "trainshed kube nodes CLUSTER"


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
    if there is not None and there < job.node_count:
        remedy = f"submit it with --nodes {there}, or see why nodes are missing: {_LOOK}"
    elif evidence.by_kueue:
        remedy = "wait for the jobs that have the nodes, or end one: trainshed job cancel JOB"
    else:
        remedy = f"see whether each node has what a pod asks for: {_LOOK}"
    who = "Kueue" if evidence.by_kueue else evidence.service
    yield Violation(message=f"{who} says: {job.reason.rstrip('.')}{counted}", remedy=remedy)

"""Ready jobs: benchmarks and checks of the nodes, with published settings."""

from trainshed.ready_jobs.cluster import rehearsal_on, work_on
from trainshed.ready_jobs.lookup import find_ready_job, ready_jobs, ready_jobs_for
from trainshed.ready_jobs.model import JobNodes, ReadyJob, Work

__all__ = [
    "JobNodes",
    "ReadyJob",
    "Work",
    "find_ready_job",
    "ready_jobs",
    "ready_jobs_for",
    "rehearsal_on",
    "work_on",
]

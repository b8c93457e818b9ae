"""Why a job waits or has failed, and what to do about it."""

from trainshed.jobs.why.gathering import gather
from trainshed.jobs.why.rules import explain_job

__all__ = ["explain_job", "gather"]

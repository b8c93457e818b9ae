"""Judge a job by what is known of it."""

from trainshed.findings import Finding, Over
from trainshed.findings.run import found
from trainshed.jobs.why.evidence import Evidence

_COMMAND = "job why"

jobs: Over[Evidence, Evidence] = Over(command=_COMMAND, parts=lambda evidence: (evidence,))


def explain_job(evidence: Evidence) -> list[Finding]:
    """Return what is found of a job."""
    return list(found(_COMMAND, evidence))

"""What was wrong with a node or its storage, by the last lines of a job that failed."""

import re
from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.jobs.model import JobState
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.judging import jobs

# errno(3), ENOSPC and EDQUOT; Python, shells and dd name the file after or before them.
_FULL = re.compile(
    r"(?:(?P<before>['\u2018][^'\u2019]+['\u2019]|(?<!\S)/[^\s:]+): )?"
    r"(?:No space left on device|Disk quota exceeded)"
    r"(?:: '(?P<after>[^']+)')?"
)
# trainshed-launch.
_NODE = r"(?P<node>this node|node \d+ \([^)]*\))"
_LOST = re.compile(rf"{_NODE} lost a device while the command ran: (?P<what>.*)")
_LACKS = re.compile(rf"{_NODE} takes no part: (?P<what>.*)")


@rule(
    "TS-JOB-039",
    over=jobs,
    title="The storage that the job writes to is full",
    severity=Severity.ERROR,
    why="""
The last lines of a node that failed say `No space left on device`, or that a quota is used up: the
file system of the cluster, the scratch space or the root volume of the node is full. On Lustre one
full storage target is enough, for files that are on it alone.
""",
    remedy="Delete what is not needed, such as old checkpoints, or give the storage more room",
)
def full_storage(evidence: Evidence) -> Iterator[Violation]:
    """A job that cannot write its checkpoint fails, and each attempt does."""
    for _, found in _last(evidence, _FULL):
        path = found["after"] or (found["before"] or "a file system").strip("'\u2018\u2019")
        yield Violation(
            message=f"{path} has no space left",
            remedy="see which one is full, on a node: df -h, and on Lustre lfs df -h; delete old "
            "checkpoints, or raise storage.lustre.capacity_gib or storage.openzfs.capacity_gib in "
            "the cluster file and deploy, which takes effect while they are used",
        )


@rule(
    "TS-JOB-040",
    over=jobs,
    title="A node lost its devices, or lacks them",
    severity=Severity.ERROR,
    why="""
The launcher found that devices of a node were missing, before the command began or when it failed:
an accelerator that has fallen off the bus, XID 79 of NVIDIA's driver, or an EFA device.
The node powers off and is replaced, where the AMI is ours; in a reservation it reboots first.
""",
    remedy="Nothing, if it is one node; if the next one says the same, correct the AMI",
)
def lost_device(evidence: Evidence) -> Iterator[Violation]:
    """A node that lacks a device ends the job on all nodes."""
    for pattern, what in ((_LOST, "lost devices while the command ran"), (_LACKS, "lacks devices")):
        for index, found in _last(evidence, pattern):
            node = found["node"].replace("this node", f"node {index}")
            yield Violation(
                message=f"{node} {what}: {found['what'].partition(';')[0]}",
                remedy=f"the whole line: trainshed job logs {evidence.job.job_id}; if every node "
                "says it, correct the AMI, the launch template or the job definition",
            )


def _last(evidence: Evidence, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the last line of a job that did not succeed in which a pattern is, if there is one.

    Before it comes the index of the node that printed it.
    """
    printed, job = evidence.printed, evidence.job
    if printed and job.attempts and job.state is not JobState.SUCCEEDED:
        found = (pattern.search(line) for line in reversed(printed.lines))
        yield from [(printed.node, match) for match in found if match][:1]

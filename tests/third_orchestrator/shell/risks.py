"""What a change does to its jobs."""

from collections.abc import Iterator

from trainshed.review.model import Risk
from trainshed.review.risks.affected import Affected

LAUNCHES_NODES = "AWS::AutoScaling::AutoScalingGroup"
RUNS_JOBS = {LAUNCHES_NODES: ("the shell group", "the scripts on its nodes end")}


def changed(affected: Affected) -> Iterator[Risk]:
    """Yield nothing: a change of the group ends no node."""
    yield from ()

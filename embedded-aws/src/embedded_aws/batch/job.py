"""A job that can be attempted."""

from collections.abc import Sequence
from dataclasses import dataclass

from embedded_aws.actions import Call, Row
from embedded_aws.batch.job_containers import Container


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that may be attempted: a container job, a child of an array, or a multi-node job.

    Attributes:
        call: that submitted it.
        row: as DescribeJobs returns it.
        definition: name of its definition.
        nodes: rows of its nodes; the job's own for one that has no nodes.
        containers: of its nodes; None for what is not a container of ECS.
        main: index of the main node.
        after: rows of jobs that have to succeed before it starts.
        array_size: of its array, for a child.
    """

    call: Call
    row: Row
    definition: str
    nodes: Sequence[Row]
    containers: Sequence[Container | None]
    main: int = 0
    after: Sequence[Row] = ()
    array_size: int | None = None

    @property
    def is_multinode(self) -> bool:
        """Its nodes have rows of their own."""
        return self.nodes[0] is not self.row

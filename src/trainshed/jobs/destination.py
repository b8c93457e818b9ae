"""Where the jobs of a cluster go: what its stack made for them."""

from typing import Protocol

from trainshed.aws import Region
from trainshed.deployed_stacks import find_stack
from trainshed.errors import Failure
from trainshed.jobs.batch import BatchDestination
from trainshed.jobs.model import ListedJob
from trainshed.jobs.run_command import CommandDestination
from trainshed.jobs.submission import Submission


class Destination(Protocol):
    """Where the jobs of a cluster go."""

    def submit(self, region: Region, submission: Submission) -> str:
        """Submit a job; return its id.

        Raises:
            TrainshedError: what runs the job would refuse it.
            Failure: the nodes that it needs are not there.
        """

    def jobs(self, region: Region) -> list[ListedJob]:
        """Return its jobs, the newest first."""

    def most_nodes(self, region: Region) -> int:
        """Return how many nodes its jobs may have."""


def find_destination(region: Region, cluster: str) -> Destination:
    """Find what runs the jobs of a deployed cluster.

    Args:
        region: the cluster's.
        cluster: its name, which is that of its stack.

    Raises:
        Failure: it is not deployed.
    """
    stack = find_stack(region, cluster)
    if stack is None:
        raise Failure(
            f"{cluster} is not deployed in {region.name}; deploy it: npx cdk deploy {cluster}"
        )
    outputs = stack.outputs
    if {"JobQueue", "JobDefinition"} <= outputs.keys():
        return BatchDestination(queue=outputs["JobQueue"], definition=outputs["JobDefinition"])
    if {"JobDocument", "NodeGroup", "LogGroup"} <= outputs.keys():
        return CommandDestination(
            cluster=cluster,
            group=outputs["NodeGroup"],
            document=outputs["JobDocument"],
            log_group=outputs["LogGroup"],
        )
    raise Failure(
        f"the stack {cluster} in {region.name} is {stack.status} and has no outputs for jobs; "
        f"deploy it again: npx cdk deploy {cluster}"
    )

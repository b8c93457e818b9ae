"""Where the jobs of a cluster go: the queue and the job definition that its stack made."""

from dataclasses import dataclass

from trainshed.aws import Region
from trainshed.deployed_stacks import find_stack
from trainshed.errors import Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where the jobs of a cluster go.

    Attributes:
        queue: ARN of its job queue.
        definition: ARN of its job definition, with the revision.
    """

    queue: str
    definition: str


def find_destination(region: Region, cluster: str) -> Destination:
    """Find the queue and the job definition of a deployed cluster.

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
    try:
        return Destination(
            queue=stack.outputs["JobQueue"], definition=stack.outputs["JobDefinition"]
        )
    except KeyError as missing:
        raise Failure(
            f"the stack {cluster} in {region.name} is {stack.status} and has no output "
            f"{missing.args[0]}; deploy it again: npx cdk deploy {cluster}"
        ) from None

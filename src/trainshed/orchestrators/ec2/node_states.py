"""What the Auto Scaling group of plain EC2 nodes, and Systems Manager, say of the nodes."""

from collections.abc import Mapping

from trainshed.account.scaling_groups import ScalingGroup, find_group
from trainshed.aws import Region
from trainshed.jobs.node_states import NodeStates
from trainshed.jobs.nodes import running_nodes
from trainshed.jobs.why.questions import Questions
from trainshed.orchestrators.ec2.agents import answering


def kept_nodes(region: Region, outputs: Mapping[str, str]) -> int | None:
    """Return how many nodes are there without a job; None when the group is gone.

    Args:
        region: the cluster's.
        outputs: of its stack.
    """
    group = find_group(region, outputs["NodeGroup"])
    return group.desired if group else None


def look(
    region: Region, cluster: str, outputs: Mapping[str, str], questions: Questions
) -> NodeStates:
    """Ask for them.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
        questions: ask them, and note what AWS refuses.
    """
    no_group: ScalingGroup | None = None
    group = questions.ask(lambda: find_group(region, outputs["NodeGroup"]), no_group)
    return NodeStates(
        wanted=group.desired if group else None,
        reached=questions.ask(lambda: answering(region), None),
        drained=questions.ask(
            lambda: frozenset(
                node.instance_id for node in running_nodes(region, cluster) if node.drained
            ),
            frozenset(),
        ),
        problems=group.problems if group else (),
    )

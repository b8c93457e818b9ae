"""What Systems Manager says of its nodes."""

from collections.abc import Mapping

from trainshed.aws import Region
from trainshed.jobs.node_states import NodeStates
from trainshed.jobs.why.questions import Questions


def kept_nodes(region: Region, outputs: Mapping[str, str]) -> int | None:
    """Nothing says how many it keeps."""
    return None


def look(
    region: Region, cluster: str, outputs: Mapping[str, str], questions: Questions
) -> NodeStates:
    """Ask which nodes it reaches; nothing says how many are wanted."""
    found = questions.ask(
        lambda: [
            each["InstanceId"]
            for each in region.pages(
                "ssm", "describe_instance_information", "InstanceInformationList"
            )
        ],
        None,
    )
    return NodeStates(wanted=None, reached=found)

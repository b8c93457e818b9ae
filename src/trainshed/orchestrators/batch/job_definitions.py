"""Job definitions: that of a cluster, and its copies that bring files to jobs."""

from collections.abc import Mapping
from typing import Any

from trainshed.aws import Region
from trainshed.jobs.sent_files import VARIABLE, SentFiles

# What RegisterJobDefinition takes of what DescribeJobDefinitions returns.
_REGISTERED = (
    *("type", "nodeProperties", "containerProperties", "parameters", "platformCapabilities"),
    *("propagateTags", "retryStrategy", "schedulingPriority", "timeout"),
)
_LONGEST_NAME = 128


def most_nodes(region: Region, definition: str) -> int:
    """Return how many nodes the jobs of a multi-node definition may have, by its ARN."""
    return int(_described(region, definition)["nodeProperties"]["numNodes"])


def register_with_files(region: Region, definition: str, files: SentFiles) -> str:
    """Register a job definition like another one, with files; return its ARN.

    The submission itself could not bring them: what it changes of a container may have 8192
    characters (ECS API reference, RunTask: overrides).

    Args:
        region: where it is.
        definition: ARN of the other one.
        files: that go with a job.
    """
    own = _described(region, definition)
    copied = {name: own[name] for name in _REGISTERED if name in own}
    variable = {"name": VARIABLE, "value": files.archive}
    if nodes := own.get("nodeProperties"):
        groups = [
            {**group, "container": _with_variable(group["container"], variable)}
            for group in nodes["nodeRangeProperties"]
        ]
        copied["nodeProperties"] = {**nodes, "nodeRangeProperties": groups}
    else:
        copied["containerProperties"] = _with_variable(own["containerProperties"], variable)
    # AWS's own tags cannot be given.
    tags = {name: text for name, text in own.get("tags", {}).items() if name[:4] != "aws:"}
    answer = region.call(
        "batch",
        "register_job_definition",
        jobDefinitionName=_name_with_files(own["jobDefinitionName"]),
        **copied,
        **({"tags": tags} if tags else {}),
    )
    return str(answer["jobDefinitionArn"])


def deregister_with_files(region: Region, definition: str) -> None:
    """Deregister the job definitions that submissions with files have made of one.

    Jobs may still need them as long as the queue is there.

    Args:
        region: where it is.
        definition: its ARN.
    """
    name = definition.rpartition("/")[2].partition(":")[0]
    for made in region.pages(
        "batch",
        "describe_job_definitions",
        "jobDefinitions",
        jobDefinitionName=_name_with_files(name),
        status="ACTIVE",
    ):
        region.call("batch", "deregister_job_definition", jobDefinition=made["jobDefinitionArn"])


def _described(region: Region, definition: str) -> Mapping[str, Any]:
    answer = region.call("batch", "describe_job_definitions", jobDefinitions=[definition])
    found: Mapping[str, Any] = answer["jobDefinitions"][0]
    return found


def _with_variable(container: Mapping[str, Any], variable: Mapping[str, str]) -> dict[str, Any]:
    return {**container, "environment": [*container.get("environment", ()), variable]}


def _name_with_files(definition: str) -> str:
    ending = "-with-files"
    return definition[: _LONGEST_NAME - len(ending)] + ending

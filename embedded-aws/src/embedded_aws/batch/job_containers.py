"""The containers of a job: properties of the definition, with the submission's changes.

Batch API reference: `Ref::name` in a command stands for a parameter of the job; variables of the
submission replace those of the definition by their names; where node ranges nest, the narrower one
counts; overrides of nodes name a range of the definition. Inferred: a name that no parameter has
stays as it is. ECS API reference, RunTask: overrides have at most 8192 characters. From memory: the
words (Netflix/metaflow issue 977). Inferred: what AWS Batch adds to them itself does not count
here.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from embedded_aws.batch.node_properties import NodeProperties, node_range

# containerProperties, as the API takes them.
Container = dict[str, Any]

_MOST_CHARACTERS = 8192
_PARAMETER = re.compile(r"Ref::([A-Za-z0-9_-]+)")


def overridden(
    container: Mapping[str, Any], overrides: Mapping[str, Any], parameters: Mapping[str, str]
) -> Container:
    """Return the properties of a job's container.

    Args:
        container: properties of the definition.
        overrides: containerOverrides of the submission.
        parameters: of the job.
    """
    merged = {**container, **overrides}
    for name in ("environment", "resourceRequirements"):
        key = "name" if name == "environment" else "type"
        entries = [*container.get(name, []), *overrides.get(name, [])]
        merged[name] = list({entry[key]: entry for entry in entries}.values())
    merged["command"] = [
        _PARAMETER.sub(lambda found: parameters.get(found[1], found[0]), word)
        for word in merged.get("command", [])
    ]
    return merged


def overrides_problem(submission: Mapping[str, Any]) -> str | None:
    """Return why ECS runs no task with what a submission changes of a container; None if it does.

    Args:
        submission: the request.
    """
    of_nodes = submission.get("nodeOverrides", {}).get("nodePropertyOverrides", [])
    for each in (submission, *of_nodes):
        if len(json.dumps(each.get("containerOverrides", {}))) > _MOST_CHARACTERS:
            return f"Container Overrides length must be at most {_MOST_CHARACTERS}"
    return None


def container_of_node(
    nodes: NodeProperties,
    index: int,
    overrides: Mapping[str, Any],
    parameters: Mapping[str, str],
) -> Container | None:
    """Return the container of a node, or None where its group has none.

    Args:
        nodes: of the job.
        index: of the node.
        overrides: nodeOverrides of the submission.
        parameters: of the job.
    """
    groups = {}
    for group in nodes["nodeRangeProperties"]:
        first, last = node_range(group["targetNodes"])
        last = nodes["numNodes"] - 1 if last is None else last
        if first <= index <= last:
            groups[last - first] = group
    group = groups[min(groups)]
    changes: dict[str, Any] = {}
    for override in overrides.get("nodePropertyOverrides", []):
        if override["targetNodes"] == group["targetNodes"]:
            changes = override.get("containerOverrides", {})
    return overridden(group["container"], changes, parameters) if "container" in group else None


def requirement(container: Mapping[str, Any], kind: str) -> int:
    """Return how much a container requires.

    Args:
        container: its properties.
        kind: VCPU, or MEMORY in MiB.
    """
    for entry in container.get("resourceRequirements", []):
        if entry["type"] == kind:
            return int(entry["value"])
    return int(container.get({"VCPU": "vcpus", "MEMORY": "memory"}[kind], 0))

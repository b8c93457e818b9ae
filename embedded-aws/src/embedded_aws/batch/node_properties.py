"""What Batch refuses in the node properties of a multi-node parallel job definition.

Batch API reference and user guide: up to 1,000 nodes in up to 5 groups; the ranges together cover
every node, and may nest; an omitted start is 0, an omitted end the last node; the main node is one
of the nodes; all groups use one instance type. Inferred: the exact words.
"""

import re
from collections.abc import Mapping
from typing import Any

from embedded_aws.batch.container_properties import check_container
from embedded_aws.batch.refusals import check_between, refuse

# nodeProperties, as the API takes it.
NodeProperties = Mapping[str, Any]

_RANGE = re.compile(r"(\d*):(\d*)|(\d+)")
_MAXIMUM_NODES = 1000
_MAXIMUM_GROUPS = 5


def check_nodes(nodes: NodeProperties) -> None:
    """Refuse node properties that Batch refuses.

    Raises:
        Refusal: ClientException.
    """
    count, main, groups = nodes["numNodes"], nodes["mainNode"], nodes["nodeRangeProperties"]
    check_between("numNodes", count, 1, _MAXIMUM_NODES)
    if not 0 <= main < count:
        raise refuse(f"mainNode {main} must be a node index between 0 and {count - 1}.")
    if not 1 <= len(groups) <= _MAXIMUM_GROUPS:
        raise refuse(f"Between 1 and {_MAXIMUM_GROUPS} node groups must be provided.")
    covered: set[int] = set()
    for group in groups:
        first, last = node_range(group["targetNodes"])
        last = count - 1 if last is None else last
        if not first <= last < count:
            raise refuse(
                f"targetNodes {group['targetNodes']} must lie within the nodes 0:{count - 1}."
            )
        covered.update(range(first, last + 1))
        if not {"container", "ecsProperties", "eksProperties"} & set(group):
            raise refuse(f"Node group {group['targetNodes']} must contain a container.")
        if "container" in group:
            check_container(group["container"])
    if missing := sorted(set(range(count)) - covered):
        raise refuse(
            f"The node ranges must account for all nodes 0:{count - 1}; node {missing[0]} has none."
        )
    _check_one_type(nodes)


def node_range(target: str) -> tuple[int, int | None]:
    """Return the first and the last node index of a range; None when the end is open.

    Raises:
        Refusal: it is not a range.
    """
    found = _RANGE.fullmatch(target)
    if not found:
        raise refuse(f"targetNodes {target} must be a range of node indexes such as 0:3 or 0:.")
    if found[3]:
        return int(found[3]), int(found[3])
    return int(found[1] or 0), int(found[2]) if found[2] else None


def _check_one_type(nodes: NodeProperties) -> None:
    """Refuse node groups that name more than one instance type; they may name none."""
    named: set[str] = set()
    for group in nodes["nodeRangeProperties"]:
        types = group.get("instanceTypes", [])
        if len(types) > 1:
            raise refuse("instanceTypes is currently limited to one element.")
        named.update(types)
        if own := group.get("container", {}).get("instanceType"):
            named.add(own)
    if len(named) > 1:
        raise refuse(
            "All node groups in a multi-node parallel job must use the same instance type, "
            f"not {', '.join(sorted(named))}."
        )


def check_override(nodes: NodeProperties, count: int) -> None:
    """Refuse a number of nodes that the definition cannot run with.

    Args:
        nodes: of the job definition.
        count: numNodes of SubmitJob's nodeOverrides.

    Raises:
        Refusal: ClientException.
    """
    ranges = [node_range(group["targetNodes"]) for group in nodes["nodeRangeProperties"]]
    if all(last is not None for _, last in ranges):
        raise refuse(
            "numNodes can be overridden only when a node range of the job definition has an open "
            "upper boundary, such as 0:."
        )
    check_between("numNodes", count, 1, _MAXIMUM_NODES)
    if any(first >= count for first, _ in ranges) or nodes["mainNode"] >= count:
        raise refuse(
            f"numNodes {count} must be greater than the lower boundary of each node range and "
            "than the main node index."
        )

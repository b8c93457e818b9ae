"""Why a deployment exchanges the nodes of a cluster."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from trainshed.orchestrators import Orchestrator, part
from trainshed.review.model import Effect, ResourceChange
from trainshed.review.risks.affected import Affected

_LAUNCH_TEMPLATE = "AWS::EC2::LaunchTemplate"


def launches_nodes(resource_type: str) -> bool:
    """Return whether resources of a type launch nodes, for whichever orchestrator."""
    return any(resource_type == part(each, "risks").LAUNCHES_NODES for each in Orchestrator)


def new_nodes(
    affected: Affected, names: Collection[str], *, within: str | None = None
) -> tuple[str, ...]:
    """Return the changes that only new nodes get, so that present ones are replaced.

    Also of a resource that looks the same: its launch template gets another version, or a custom
    resource may give another AMI.

    Args:
        affected: what launches the nodes.
        names: of its properties that are for new nodes only.
        within: the property that these are in; by default they are its own.
    """
    own = [
        each.path
        for each in affected.change.properties
        if re.split(r"\W", each.path.removeprefix(f"{within}."))[0] in names
    ]
    given = affected.new.get("Properties", {})
    if within:
        given = given.get(within, {})
    used = [reference for name in names for reference in _references(given.get(name))]
    changed = {each.logical_id: each for each in affected.stack.resources}
    reasons = (_reason(changed[name], attribute) for name, attribute in used if name in changed)
    return tuple(dict.fromkeys([*own, *filter(None, reasons)]))


def _references(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the resources that a value refers to, and the attributes of them."""
    match value:
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            yield name, attribute
        case dict():
            for entry in value.values():
                yield from _references(entry)
        case list():
            for element in value:
                yield from _references(element)


def _reason(change: ResourceChange, attribute: str) -> str | None:
    if change.effect not in (Effect.CHANGED, Effect.REPLACED):
        return None
    # A list that gains several elements is there with each of them.
    paths = dict.fromkeys(each.path for each in change.properties)
    if change.resource_type == _LAUNCH_TEMPLATE and attribute == "LatestVersionNumber":
        data = [path for path in paths if path.startswith("LaunchTemplateData")]
        return f"a new version of {change.name} ({', '.join(data)})" if data else None
    if change.resource_type.startswith("Custom::"):
        return f"{change.name}, which may give another {attribute}"
    return None

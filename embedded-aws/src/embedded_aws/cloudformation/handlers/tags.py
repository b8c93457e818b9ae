"""Tags of a resource: its own take precedence over the stack's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from embedded_aws.cloudformation.resource import Properties, Request


def own_tags(properties: Properties) -> dict[str, str]:
    """Return the template's own tags.

    Some types write Tags as a list, others as a map, and some have TagSpecifications in its place.
    """
    tags = properties.get("Tags") or {}
    if isinstance(tags, Mapping):
        tags = tag_list(tags)
    specified = [
        tag
        for specification in properties.get("TagSpecifications", [])
        for tag in specification["Tags"]
    ]
    return {tag["Key"]: str(tag["Value"]) for tag in [*tags, *specified]}


def all_tags(request: Request) -> dict[str, str]:
    """Return every tag that the resource is to carry."""
    return {**request.tags, **own_tags(request.properties)}


def tag_list(tags: Mapping[str, str], key: str = "Key", value: str = "Value") -> list[Any]:
    """Return tags as a list of pairs, in the spelling of the service."""
    return [{key: name, value: text} for name, text in tags.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagging:
    """How a service changes the tags of a resource that exists.

    Attributes:
        target: the argument that names the resource.
        by: the attribute that names it there; None for the physical id.
        tag: the operation that sets tags.
        untag: the operation that removes them by their keys.
        keys: its argument with the keys.
        form: makes what the API takes out of names and values.
        more: further arguments of both operations.
    """

    target: str
    by: str | None = None
    tag: str = "TagResource"
    untag: str = "UntagResource"
    keys: str = "TagKeys"
    form: Callable[[Mapping[str, str]], Any] = tag_list
    more: Mapping[str, str] = field(default_factory=dict)

"""The base class of EC2's handlers."""

from collections.abc import Mapping
from typing import Any, ClassVar

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Request


def as_attribute(value: Any) -> dict[str, Any]:
    """Return a value in the form of EC2's Modify operations, which take one attribute a call."""
    return {"Value": value}


class Ec2Handler(Handler):
    """A handler of a resource that has tags.

    Attributes:
        kind: the ResourceType of its TagSpecifications.
        tagged: the attribute that carries the tags; None for the physical id.
    """

    service = "ec2"
    kind: ClassVar[str]
    tagged: ClassVar[str | None] = None

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = super()._wanted(request)
        wanted.pop("Tags", None)
        tags = tag_list(all_tags(request))
        return wanted | {"TagSpecifications": [{"ResourceType": self.kind, "Tags": tags}]}

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        ec2, tagged = request.client("ec2"), self.tagged
        resource_id = self._attributes(request, physical_id)[tagged] if tagged else physical_id
        if tags:
            ec2.create_tags(Resources=[resource_id], Tags=tag_list(tags))
        if stale:
            ec2.delete_tags(Resources=[resource_id], Tags=[{"Key": key} for key in stale])

"""The base class of EC2's handlers."""

from collections.abc import Mapping
from typing import Any, ClassVar

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Request


class Ec2Handler(Handler):
    """A handler of a resource that has tags.

    Attributes:
        kind: the ResourceType of its TagSpecifications.
    """

    service = "ec2"
    kind: ClassVar[str]

    def _make(
        self, request: Request, operation: str, *, leave: tuple[str, ...] = (), **more: Any
    ) -> Any:
        """Call the creating operation with the properties, all but `leave`, and the tags."""
        tags = [{"ResourceType": self.kind, "Tags": tag_list(all_tags(request))}]
        leave = (*leave, "Tags", "TagSpecifications")
        return self._call(
            request, operation, request.properties, leave=leave, **more, TagSpecifications=tags
        )

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        ec2 = request.client("ec2")
        resource_id = self._taggable_id(request, physical_id)
        if tags:
            ec2.create_tags(Resources=[resource_id], Tags=tag_list(tags))
        if stale:
            ec2.delete_tags(Resources=[resource_id], Tags=[{"Key": key} for key in stale])

    def _taggable_id(self, request: Request, physical_id: str) -> str:
        """Return the id that carries the tags, for types whose Ref is something else."""
        return physical_id

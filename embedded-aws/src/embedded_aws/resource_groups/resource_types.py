"""Resource groups, and the capacity reservations that a template puts into them."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, differences, forgiving
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import HandlerError, Properties, Request, resource


def _of_users(tags: Mapping[str, str]) -> dict[str, str]:
    # Resource Groups refuses those that begin with aws: from everybody but CloudFormation.
    return {key: text for key, text in tags.items() if not key.startswith("aws:")}


@resource("AWS::ResourceGroups::Group")
class Group(Handler):
    """A resource group; its Ref is the name.

    CloudFormation's schema of the type: it adds and removes `Resources` by GroupResources and
    UngroupResources, and a new name replaces the group. Inferred: what GroupResources answers as
    `Failed` fails the resource.
    """

    service = "resource-groups"
    target, name = "Group", "Name"
    creation = "CreateGroup", "Group.Name"
    reading = "GetGroup", "Group"
    deletion = "DeleteGroup"
    later = ("Resources",)
    known = ("Name", "Description", "Configuration", "Resources", "Tags")
    fixed = ("Description", "Configuration")
    attributes = {"Arn": "GroupArn"}
    tagging = Tagging(target="Arn", by="Arn", tag="Tag", untag="Untag", keys="Keys", form=_of_users)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        gone, new = differences(
            before.get("Resources", []), request.properties.get("Resources", [])
        )
        if gone:
            with forgiving():
                self._change_members(request, "UngroupResources", physical_id, gone)
        if new:
            self._change_members(request, "GroupResources", physical_id, new)

    def _change_members(
        self, request: Request, operation: str, group: str, arns: list[str]
    ) -> None:
        answer: dict[str, Any] = self._call(request, operation, {}, Group=group, ResourceArns=arns)
        if failed := answer["Failed"]:
            raise HandlerError("; ".join(each["ErrorMessage"] for each in failed))

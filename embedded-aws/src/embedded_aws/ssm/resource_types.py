"""Parameters of the Systems Manager parameter store."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.names import random_suffix
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::SSM::Parameter")
class Parameter(Handler):
    """A parameter; its Ref is the parameter's name."""

    service = "ssm"
    gone = ("ParameterNotFound",)

    def _create(self, request: Request) -> str:
        name: str = request.properties.get("Name") or f"CFN-{request.logical_id}-{random_suffix()}"
        self._put(request, Name=name, Tags=tag_list(all_tags(request)))
        return name

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        self._put(request, Name=physical_id, Overwrite=True)

    def _put(self, request: Request, **more: Any) -> None:
        self._call(request, "PutParameter", request.properties, leave=("Name", "Tags"), **more)

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        ssm = request.client("ssm")
        target = {"ResourceType": "Parameter", "ResourceId": physical_id}
        if tags:
            ssm.add_tags_to_resource(**target, Tags=tag_list(tags))
        if stale:
            ssm.remove_tags_from_resource(**target, TagKeys=stale)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        parameter = request.client("ssm").get_parameter(Name=physical_id)["Parameter"]
        return {"Arn": parameter["ARN"], "Name": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ssm").delete_parameter(Name=physical_id)

"""Parameters of the Systems Manager parameter store."""

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.names import random_suffix
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::SSM::Parameter")
class StoredParameter(Handler):
    """A parameter; its Ref is the parameter's name."""

    service = "ssm"
    target = name = "Name"
    creation = "PutParameter", "Name"
    reading = "GetParameter", "Parameter"
    deletion = "DeleteParameter"
    attributes = {"Arn": "ARN"}
    tagging = Tagging(
        target="ResourceId",
        tag="AddTagsToResource",
        untag="RemoveTagsFromResource",
        more={"ResourceType": "Parameter"},
    )

    def _generated_name(self, request: Request) -> str:
        return f"CFN-{request.logical_id}-{random_suffix()}"

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        wanted, leave = {**request.properties, "Name": physical_id}, ("Tags",)
        self._call(request, "PutParameter", wanted, leave=leave, Overwrite=True)

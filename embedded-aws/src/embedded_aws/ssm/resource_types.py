"""Parameters and documents of Systems Manager."""

import json
from contextlib import suppress
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, present
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


@resource("AWS::SSM::Document")
class StoredDocument(Handler):
    """A document; its Ref is the document's name.

    CloudFormation template reference: content is a text or a structure. UpdateMethod
    Replace, the default, has CloudFormation replace the document, which fails where the template
    names it; NewVersion adds a version and makes it the default one.
    """

    service = "ssm"
    target = name = "Name"
    name_limit = 128
    later = ("UpdateMethod",)
    creation = "CreateDocument", "DocumentDescription.Name"
    reading = "DescribeDocument", "Document"
    deletion = "DeleteDocument"
    tagging = Tagging(
        target="ResourceId",
        tag="AddTagsToResource",
        untag="RemoveTagsFromResource",
        more={"ResourceType": "Document"},
    )

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = super()._wanted(request)
        content = wanted["Content"]
        return {**wanted, "Content": content if isinstance(content, str) else json.dumps(content)}

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if not changed(request, before, "Content", "DocumentFormat", "VersionName"):
            return
        wanted = present(
            self._wanted(request), "Content", "DocumentFormat", "TargetType", "VersionName"
        )
        ssm = request.client("ssm")
        made = ssm.update_document(Name=physical_id, DocumentVersion="$LATEST", **wanted)
        version = made["DocumentDescription"]["DocumentVersion"]
        ssm.update_document_default_version(Name=physical_id, DocumentVersion=version)

    def _delete(self, request: Request, physical_id: str) -> None:
        # Whose code does not say that there is none.
        with suppress(request.client("ssm").exceptions.InvalidDocument):
            super()._delete(request, physical_id)

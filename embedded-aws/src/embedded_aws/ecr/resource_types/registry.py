"""Settings of a whole registry: pull-through cache rules, and templates of their repositories."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, with_defaults
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::ECR::PullThroughCacheRule")
class PullThroughCacheRule(Handler):
    """A pull-through cache rule; its Ref is the prefix. It cannot be changed in place."""

    service = "ecr"
    target = "ecrRepositoryPrefix"
    creation = "CreatePullThroughCacheRule", "ecrRepositoryPrefix"
    deletion = "DeletePullThroughCacheRule"


@resource("AWS::ECR::RepositoryCreationTemplate")
class RepositoryCreationTemplate(Handler):
    """A template for repositories under a prefix; its Ref is the prefix."""

    service = "ecr"
    target = "prefix"
    creation = "CreateRepositoryCreationTemplate", "Prefix"
    deletion = "DeleteRepositoryCreationTemplate"

    # Properties that UpdateRepositoryCreationTemplate keeps if they are left out.
    _defaults: Mapping[str, Any] = {
        "CustomRoleArn": "",
        "Description": "",
        "EncryptionConfiguration": {"EncryptionType": "AES256"},
        "ImageTagMutability": "MUTABLE",
        "LifecyclePolicy": "",
        "RepositoryPolicy": "",
        "ResourceTags": [],
    }

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        wanted = with_defaults(request, before, self._defaults)
        self._call(request, "UpdateRepositoryCreationTemplate", wanted)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("ecr").describe_repository_creation_templates(prefixes=[physical_id])
        [template] = reply["repositoryCreationTemplates"]
        return {
            "CreatedAt": template["createdAt"].isoformat(),
            "UpdatedAt": template["updatedAt"].isoformat(),
        }

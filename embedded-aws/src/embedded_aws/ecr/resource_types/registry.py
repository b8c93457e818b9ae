"""Settings of a whole registry: pull-through cache rules, and templates of their repositories."""

from collections.abc import Mapping
from typing import Any, ClassVar

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.resource import Request, resource


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
    changing = "UpdateRepositoryCreationTemplate"
    defaults: ClassVar[Mapping[str, Any]] = {
        "CustomRoleArn": "",
        "Description": "",
        "EncryptionConfiguration": {"EncryptionType": "AES256"},
        "ImageTagMutability": "MUTABLE",
        "LifecyclePolicy": "",
        "RepositoryPolicy": "",
        "ResourceTags": [],
    }

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("ecr").describe_repository_creation_templates(prefixes=[physical_id])
        [template] = reply["repositoryCreationTemplates"]
        return {
            "CreatedAt": template["createdAt"].isoformat(),
            "UpdatedAt": template["updatedAt"].isoformat(),
        }

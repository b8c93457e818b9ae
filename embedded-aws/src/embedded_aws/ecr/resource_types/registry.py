"""What holds for a whole registry: cached upstreams, and templates of the repositories for them."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::ECR::PullThroughCacheRule")
class PullThroughCacheRule(Handler):
    """A cached upstream; its Ref is the prefix. Nothing of it changes in place."""

    gone = ("PullThroughCacheRuleNotFoundException",)

    def _create(self, request: Request) -> str:
        ecr = request.client("ecr")
        taken = arguments(ecr, "CreatePullThroughCacheRule", request.properties)
        prefix: str = ecr.create_pull_through_cache_rule(**taken)["ecrRepositoryPrefix"]
        return prefix

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ecr").delete_pull_through_cache_rule(ecrRepositoryPrefix=physical_id)


@resource("AWS::ECR::RepositoryCreationTemplate")
class RepositoryCreationTemplate(Handler):
    """A template for repositories under a prefix; its Ref is the prefix."""

    gone = ("TemplateNotFoundException",)

    # What UpdateRepositoryCreationTemplate leaves as it is when it is not named.
    _defaults: Mapping[str, Any] = {
        "CustomRoleArn": "",
        "Description": "",
        "EncryptionConfiguration": {"EncryptionType": "AES256"},
        "ImageTagMutability": "MUTABLE",
        "LifecyclePolicy": "",
        "RepositoryPolicy": "",
        "ResourceTags": [],
    }

    def _create(self, request: Request) -> str:
        ecr = request.client("ecr")
        taken = arguments(ecr, "CreateRepositoryCreationTemplate", request.properties)
        ecr.create_repository_creation_template(**taken)
        prefix: str = request.properties["Prefix"]
        return prefix

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        ecr = request.client("ecr")
        dropped = {name: self._defaults[name] for name in self._defaults if name in before}
        wanted = {**dropped, **request.properties}
        taken = arguments(ecr, "UpdateRepositoryCreationTemplate", wanted)
        ecr.update_repository_creation_template(**taken)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("ecr").describe_repository_creation_templates(prefixes=[physical_id])
        [template] = reply["repositoryCreationTemplates"]
        return {
            "CreatedAt": template["createdAt"].isoformat(),
            "UpdatedAt": template["updatedAt"].isoformat(),
        }

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("ecr").delete_repository_creation_template(prefix=physical_id)

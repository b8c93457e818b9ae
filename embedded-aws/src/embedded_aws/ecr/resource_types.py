"""ECR repositories, and settings of a whole registry: pull-through cache rules, and templates."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, present
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::ECR::Repository")
class EcrRepository(Handler):
    """A repository with its policies; its Ref is the repository's name."""

    service = "ecr"
    target, name, name_limit = "repositoryName", "RepositoryName", 256
    creation = "CreateRepository", "RepositoryName"
    reading = "DescribeRepositories", "repositories"
    later = ("EmptyOnDelete", "LifecyclePolicy", "RepositoryPolicyText")
    attributes = {
        "Arn": "repositoryArn",
        "RepositoryUri": "repositoryUri",
    }
    settings = {
        "ImageScanningConfiguration": Setting(
            put="PutImageScanningConfiguration", neutral={"ScanOnPush": False}
        ),
        "LifecyclePolicy": Setting(
            put="PutLifecyclePolicy",
            argument="LifecyclePolicyText",
            remove="DeleteLifecyclePolicy",
            reshape=lambda policy: policy.get("LifecyclePolicyText"),
        ),
        "RepositoryPolicyText": Setting(
            put="SetRepositoryPolicy",
            argument="PolicyText",
            remove="DeleteRepositoryPolicy",
        ),
    }
    tagging = Tagging(target="resourceArn", by="Arn")

    def _generated_name(self, request: Request) -> str:
        # ECR allows lower case only.
        return super()._generated_name(request).lower()

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        super()._change(request, physical_id, before)
        names = ("ImageTagMutability", "ImageTagMutabilityExclusionFilters")
        if changed(request, before, *names):
            wanted = {"ImageTagMutability": "MUTABLE", **present(request.properties, *names)}
            self._call(request, "PutImageTagMutability", wanted, repositoryName=physical_id)

    def _delete(self, request: Request, physical_id: str) -> None:
        empty = request.properties.get("EmptyOnDelete", False)
        request.client("ecr").delete_repository(repositoryName=physical_id, force=empty)


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
    defaults = {
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

"""Container image repositories."""

import json
from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler, changed, present
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::ECR::Repository")
class Repository(Handler):
    """A repository with its policies; its Ref is the repository's name."""

    gone = ("RepositoryNotFoundException",)

    _later = (
        "EmptyOnDelete",
        "LifecyclePolicy",
        "RepositoryName",
        "RepositoryPolicyText",
        "Tags",
    )

    def _create(self, request: Request) -> str:
        ecr = request.client("ecr")
        # ECR allows lower case only.
        generated = generated_name(request, limit=256).lower()
        name: str = request.properties.get("RepositoryName") or generated
        taken = arguments(ecr, "CreateRepository", request.properties, leave=self._later)
        ecr.create_repository(repositoryName=name, **taken, tags=tag_list(all_tags(request)))
        return name

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        ecr = request.client("ecr")
        now = request.properties
        if changed(request, before, "LifecyclePolicy"):
            if text := now.get("LifecyclePolicy", {}).get("LifecyclePolicyText"):
                ecr.put_lifecycle_policy(repositoryName=physical_id, lifecyclePolicyText=text)
            else:
                ecr.delete_lifecycle_policy(repositoryName=physical_id)
        if changed(request, before, "RepositoryPolicyText"):
            if policy := now.get("RepositoryPolicyText"):
                text = policy if isinstance(policy, str) else json.dumps(policy)
                ecr.set_repository_policy(repositoryName=physical_id, policyText=text)
            else:
                ecr.delete_repository_policy(repositoryName=physical_id)

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        ecr = request.client("ecr")
        if changed(request, before, "ImageScanningConfiguration"):
            scanning = request.properties.get("ImageScanningConfiguration", {"ScanOnPush": False})
            taken = arguments(
                ecr, "PutImageScanningConfiguration", {"ImageScanningConfiguration": scanning}
            )
            ecr.put_image_scanning_configuration(repositoryName=physical_id, **taken)
        names = ("ImageTagMutability", "ImageTagMutabilityExclusionFilters")
        if changed(request, before, *names):
            wanted = {"ImageTagMutability": "MUTABLE", **present(request.properties, *names)}
            taken = arguments(ecr, "PutImageTagMutability", wanted)
            ecr.put_image_tag_mutability(repositoryName=physical_id, **taken)

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        ecr = request.client("ecr")
        arn = self._attributes(request, physical_id)["Arn"]
        if tags:
            ecr.tag_resource(resourceArn=arn, tags=tag_list(tags))
        if stale:
            ecr.untag_resource(resourceArn=arn, tagKeys=stale)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("ecr").describe_repositories(repositoryNames=[physical_id])
        repository = reply["repositories"][0]
        return {
            "Arn": repository["repositoryArn"],
            "RepositoryUri": repository["repositoryUri"],
        }

    def _delete(self, request: Request, physical_id: str) -> None:
        empty = request.properties.get("EmptyOnDelete", False)
        request.client("ecr").delete_repository(repositoryName=physical_id, force=empty)

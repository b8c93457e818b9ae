"""Container image repositories."""

import json
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, present
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.handlers.tags import Tagging, all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::ECR::Repository")
class Repository(Handler):
    """A repository with its policies; its Ref is the repository's name."""

    service = "ecr"
    gone = ("RepositoryNotFoundException",)
    tagging = Tagging(target="resourceArn", by="Arn")

    _later = (
        "EmptyOnDelete",
        "LifecyclePolicy",
        "RepositoryName",
        "RepositoryPolicyText",
        "Tags",
    )

    def _create(self, request: Request) -> str:
        # ECR allows lower case only.
        generated = generated_name(request, limit=256).lower()
        name: str = request.properties.get("RepositoryName") or generated
        more = {"repositoryName": name, "tags": tag_list(all_tags(request))}
        self._call(request, "CreateRepository", request.properties, leave=self._later, **more)
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
        now = request.properties
        repository: dict[str, Any] = {"repositoryName": physical_id}
        if changed(request, before, "ImageScanningConfiguration"):
            off = {"ImageScanningConfiguration": {"ScanOnPush": False}}
            wanted = {**off, **present(now, "ImageScanningConfiguration")}
            self._call(request, "PutImageScanningConfiguration", wanted, **repository)
        names = ("ImageTagMutability", "ImageTagMutabilityExclusionFilters")
        if changed(request, before, *names):
            wanted = {"ImageTagMutability": "MUTABLE", **present(now, *names)}
            self._call(request, "PutImageTagMutability", wanted, **repository)

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

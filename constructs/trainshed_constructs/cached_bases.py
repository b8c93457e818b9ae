"""The public registry of AWS, cached in the account's own."""

import json

from aws_cdk import aws_ecr as ecr
from constructs import Construct

from trainshed_constructs.errors import ConstructError

# ECR API reference, CreatePullThroughCacheRule.
_PREFIX_LENGTHS = range(2, 31)
_DAYS = 90


class CachedBases(Construct):
    """Pull through cache of public.ecr.aws: what is asked for under a prefix is fetched once.

    `<registry>/<prefix>/docker/library/debian:12` is then public.ecr.aws/docker/library/debian:12.
    Base images come from the account's own registry after the first pull: faster, over the
    registry's VPC endpoint where there is one, and within no limit of anonymous pulls.

    - A rule is the registry's, not the stack's: one for a prefix in an account and region. So take
      a prefix that nobody else takes; one named after a repository is as unique as that.
    - The repositories are ECR's, made when something is first pulled, from a template: immutable
      tags, so that a base does not change under its name; encrypted with ECR's own keys; an image
      goes 90 days after it was fetched, and comes back with the next pull. They stay when the
      stack is deleted.
    - Whoever pulls something for the first time needs `ecr:CreateRepository` and
      `ecr:BatchImportUpstreamImage`, besides the rights to pull.
    - Only what ECR knows as an upstream can be cached: not vault.habana.ai, for instance.

    Attributes:
        prefix: first part of the cached repositories' names.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import CachedBases

        stack = Stack(App(), "Images")
        CachedBases(stack, "Bases", prefix="train-public")
    """

    def __init__(self, scope: Construct, construct_id: str, *, prefix: str) -> None:
        """Declare the rule and its template.

        Args:
            scope: parent.
            construct_id: id within the parent.
            prefix: 2 to 30 characters, as in a repository's name.

        Raises:
            ConstructError: ECR would refuse the prefix.
        """
        super().__init__(scope, construct_id)
        if len(prefix) not in _PREFIX_LENGTHS:
            raise ConstructError(
                self,
                f"prefix {prefix!r} has {len(prefix)} characters; ECR takes 2 to 30",
            )
        self.prefix = prefix
        template = ecr.CfnRepositoryCreationTemplate(
            self,
            "Template",
            prefix=prefix,
            applied_for=["PULL_THROUGH_CACHE"],
            description="Public base images of training images",
            image_tag_mutability="IMMUTABLE",
            encryption_configuration=ecr.CfnRepositoryCreationTemplate.EncryptionConfigurationProperty(
                encryption_type="AES256"
            ),
            lifecycle_policy=json.dumps(_LIFECYCLE),
        )
        rule = ecr.CfnPullThroughCacheRule(
            self,
            "Rule",
            ecr_repository_prefix=prefix,
            upstream_registry_url="public.ecr.aws",
        )
        # Before the first pull, or its repository would be made without.
        rule.add_resource_dependency(template)


_LIFECYCLE = {
    "rules": [
        {
            "rulePriority": 1,
            "description": f"Cached images go after {_DAYS} days",
            "selection": {
                # What was pulled by digest has no tag.
                "tagStatus": "any",
                "countType": "sinceImagePushed",
                "countUnit": "days",
                "countNumber": _DAYS,
            },
            "action": {"type": "expire"},
        }
    ]
}

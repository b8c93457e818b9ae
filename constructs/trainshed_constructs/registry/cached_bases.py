"""The public registry of AWS, cached in the account's own."""

import json

from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.errors import ConstructError
from trainshed_constructs.wildcards import acknowledge_wildcards, own_arn

_Template = ecr.CfnRepositoryCreationTemplate

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
      tags, so that a base does not change under its name; encrypted with ECR's own keys or a given
      one; an image goes 90 days after it was fetched, and comes back with the next pull. They
      stay when the stack is deleted.
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

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        prefix: str,
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the rule and its template.

        Args:
            scope: parent.
            construct_id: id within the parent.
            prefix: 2 to 30 characters, as in a repository's name.
            kms_key_arn: key that encrypts the cached images; by default ECR's own.

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
        template = _Template(
            self,
            "Template",
            prefix=prefix,
            applied_for=["PULL_THROUGH_CACHE"],
            description="Public base images of training images",
            image_tag_mutability="IMMUTABLE",
            encryption_configuration=_Template.EncryptionConfigurationProperty(
                encryption_type="KMS" if kms_key_arn else "AES256", kms_key=kms_key_arn
            ),
            custom_role_arn=self._role(kms_key_arn).role_arn if kms_key_arn else None,
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

    def _role(self, kms_key_arn: str) -> iam.Role:
        """Declare what ECR acts as when it makes an encrypted repository.

        ECR user guide, "Create an IAM role for repository creation templates" and "Create a custom
        policy for repository creation templates"; here for the repositories of this prefix only.
        The trust policy is the guide's, without `aws:SourceAccount`: no document says that ECR
        sends it, and where it does not, no repository could be made.
        """
        repositories = own_arn("ecr", f"repository/{self.prefix}/*")
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ecr.amazonaws.com"),
            description="Makes the repositories of cached public images",
            inline_policies={
                "MakeRepositories": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            actions=["ecr:CreateRepository"],
                            resources=[repositories],
                        ),
                        iam.PolicyStatement(
                            actions=["kms:CreateGrant", "kms:DescribeKey", "kms:RetireGrant"],
                            resources=[kms_key_arn],
                        ),
                    ]
                )
            },
        )
        acknowledge_wildcards(
            role, {repositories: "each cached image gets a repository of its own under this prefix"}
        )
        return role


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

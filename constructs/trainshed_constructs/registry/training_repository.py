"""The ECR repository of the training images."""

import re

from aws_cdk import Duration, RemovalPolicy, Token
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from trainshed_constructs.errors import ConstructError

# ECR API reference, CreateRepository, repositoryName.
_NAME = re.compile(r"(?=.{2,256}\Z)[a-z0-9]+(?:[._-][a-z0-9]+)*(?:/[a-z0-9]+(?:[._-][a-z0-9]+)*)*")
_UNTAGGED_DAYS = 14


def grant_pull(repository: ecr.IRepository, grantee: iam.IGrantable) -> iam.Grant:
    """Let a role that may log in to ECR, as `NodeRole` may, pull from one repository.

    Unlike the repository's own `grant_pull`, which adds that right, on every resource, each time.
    """
    return repository.grant(
        grantee,
        "ecr:BatchCheckLayerAvailability",
        "ecr:BatchGetImage",
        "ecr:GetDownloadUrlForLayer",
    )


class TrainingRepository(Construct):
    """Private repository whose tags mean one image forever.

    - Immutable tags: a job definition names a tag, and a job that is retried gets the same image.
    - Every pushed image is scanned for known vulnerabilities.
    - Encrypted with ECR's own keys (AES-256), or with a KMS key where rules ask for one. ECR uses
      that key itself, by a grant, so that whoever pulls needs no right to it (ECR user guide,
      "Encryption at rest"). Neither can change later.
    - Untagged images, left by interrupted pushes, go after 14 days. Tagged ones are never deleted
      by a rule: ECR cannot know which of them a job definition, or a paper, still names.
    - Kept when the stack is deleted.

    Attributes:
        repository: the L2 resource.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import TrainingRepository

        stack = Stack(App(), "Images")
        TrainingRepository(stack, "Images", repository_name="train")
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        repository_name: str,
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the repository.

        Args:
            scope: parent.
            construct_id: id within the parent.
            repository_name: lower case, 2 to 256 characters.
            kms_key_arn: key that encrypts the images; by default ECR's own.

        Raises:
            ConstructError: ECR would refuse the name.
        """
        super().__init__(scope, construct_id)
        if not (Token.is_unresolved(repository_name) or _NAME.fullmatch(repository_name)):
            raise ConstructError(
                self,
                f"repository name {repository_name!r} is not allowed: 2 to 256 lower-case letters "
                "and digits, in words joined by one of . _ - /",
            )
        key = kms.Key.from_key_arn(self, "Key", kms_key_arn) if kms_key_arn else None
        self.repository = ecr.Repository(
            self,
            "Repository",
            repository_name=repository_name,
            image_tag_mutability=ecr.TagMutability.IMMUTABLE,
            image_scan_on_push=True,
            encryption=None if key else ecr.RepositoryEncryption.AES_256,
            encryption_key=key,
            lifecycle_rules=[
                ecr.LifecycleRule(
                    description=f"Untagged images go after {_UNTAGGED_DAYS} days",
                    tag_status=ecr.TagStatus.UNTAGGED,
                    max_image_age=Duration.days(_UNTAGGED_DAYS),
                )
            ],
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )

    def grant_pull(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a role that may log in to ECR, as `NodeRole` may, pull from this repository."""
        return grant_pull(self.repository, grantee)

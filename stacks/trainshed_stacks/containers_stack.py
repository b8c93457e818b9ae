"""The container images: outlive every cluster that runs them."""

import aws_cdk as cdk
from constructs import Construct

from trainshed.plan import RepositoryPlan
from trainshed_constructs import (
    CachedBases,
    NewRepositoryName,
    TrainingRepository,
    UnprotectOnRollback,
)


class ContainersStack(cdk.Stack):
    """One ECR repository, kept when the stack goes; an existing one is left as it is.

    Beside it a cache of the public registry that its bases come from. Each stack has its own,
    under a prefix after its repository, so that stacks of one account do not meet.

    The stack is protected from deletion from the end of its creation.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        repository: RepositoryPlan,
        kms_key_arn: str | None,
        env: cdk.Environment,
    ) -> None:
        """Declare the stack.

        Args:
            scope: the app.
            construct_id: the stack's name.
            repository: the repository's name, and whether it is there already.
            kms_key_arn: key that encrypts the images; None for AWS's own.
            env: account and region.
        """
        super().__init__(
            scope,
            construct_id,
            env=env,
            description="Container images of training clusters",
            termination_protection=True,
        )
        bases = CachedBases(self, "Bases", prefix=repository.cache_prefix, kms_key_arn=kms_key_arn)
        made: list[Construct] = [bases]
        if not repository.existing:
            name = NewRepositoryName(
                self,
                "Name",
                repository_name=repository.name,
                how_to_adopt="image.existing: true",
                kms_key_arn=kms_key_arn,
            )
            images = TrainingRepository(
                self, "Images", repository_name=name.name, kms_key_arn=kms_key_arn
            )
            made += (name, images)
        UnprotectOnRollback(self, "Protection").before(*made)

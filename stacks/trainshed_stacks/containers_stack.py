"""The container images: outlive every cluster that runs them."""

from collections.abc import Sequence

from constructs import Construct

from trainshed.plan import ClusterPlan, RepositoryPlan
from trainshed_constructs import (
    CachedBases,
    NewRepositoryName,
    TrainingRepository,
    UnprotectOnRollback,
)
from trainshed_stacks.owned_stack import OwnedStack


class ContainersStack(OwnedStack):
    """One ECR repository, kept when the stack goes; an existing one is left as it is.

    Beside it a cache of the public registry that its bases come from. Each stack has its own,
    under a prefix after its repository, so that stacks of one account do not meet.

    The stack is protected from deletion from the end of its creation.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        repository: RepositoryPlan,
        users: Sequence[ClusterPlan],
    ) -> None:
        """Declare the stack, called as the plan says.

        Args:
            scope: the app.
            repository: the repository's name, and whether it is there already.
            users: the clusters whose images it has; their key encrypts them.
        """
        super().__init__(
            scope,
            repository.stack_name,
            owners=users,
            cluster=repository.name,
            description="Container images of training clusters",
            protected=True,
        )
        kms_key_arn = users[0].security.kms_key
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

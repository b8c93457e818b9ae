"""The ECR repository of the container image."""

from dataclasses import dataclass

from trainshed.plan.stack_names import stack_name
from trainshed.spec import ClusterSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPlan:
    """The ECR repository of the container image.

    Attributes:
        name: repository name.
        stack_name: stack that owns it.
    """

    name: str
    stack_name: str


def plan_repository(spec: ClusterSpec) -> RepositoryPlan:
    """Name the repository, by default after the cluster."""
    name = spec.image.repository or spec.short_name
    return RepositoryPlan(name=name, stack_name=stack_name(name, "Images"))

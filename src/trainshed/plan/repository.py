"""The ECR repository of the container image."""

from dataclasses import dataclass
from hashlib import sha256

from trainshed.plan.stack_names import stack_name
from trainshed.spec import ClusterSpec, ImageSpec

# ECR API reference, CreatePullThroughCacheRule, ecrRepositoryPrefix.
_PREFIX_MAX = 30
_SUFFIX = "-public"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryPlan:
    """The ECR repository of the container image.

    Attributes:
        name: repository name.
        stack_name: stack that owns it.
        existing: it is there already; no stack makes it.
    """

    name: str
    stack_name: str
    existing: bool = False

    @property
    def cache_prefix(self) -> str:
        """Prefix of what is cached of the public registry; no two repositories have the same."""
        if len(self.name) + len(_SUFFIX) <= _PREFIX_MAX:
            return self.name + _SUFFIX
        mark = sha256(self.name.encode()).hexdigest()[:8]
        stem = self.name[: _PREFIX_MAX - len(_SUFFIX) - len(mark) - 1].rstrip("._/-")
        return f"{stem}-{mark}{_SUFFIX}"


def plan_repository(spec: ClusterSpec) -> RepositoryPlan | None:
    """Return the cluster's own repository; None when its image is not from it."""
    elsewhere = isinstance(spec.image, ImageSpec) and spec.image.uri
    return None if elsewhere else own_repository(spec)


def own_repository(spec: ClusterSpec) -> RepositoryPlan:
    """Name the repository that a cluster has, or had, of its own: by default after the cluster."""
    asked = spec.image if isinstance(spec.image, ImageSpec) else ImageSpec()
    name = asked.repository or spec.short_name
    return RepositoryPlan(
        name=name, stack_name=stack_name(name, "Containers"), existing=asked.existing
    )

"""Where the layers of images are: in a registry on this machine, if the embedded AWS has one."""

from dataclasses import dataclass, field

from embedded_aws.service_settings import current


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerStore:
    """The registry.

    Attributes:
        upstream: its `HOST:PORT`.
        host: `HOST:PORT` of the embedded AWS, to which images are pushed.
        secret: secret key of the embedded AWS.
    """

    upstream: str
    host: str
    secret: str = field(repr=False)


def layer_store() -> LayerStore | None:
    """Return the registry; None for an ECR that takes no pushes."""
    settings = current()
    if not settings.registry:
        return None
    return LayerStore(
        upstream=settings.registry,
        host=settings.endpoint.partition("//")[2],
        secret=settings.secret_key,
    )

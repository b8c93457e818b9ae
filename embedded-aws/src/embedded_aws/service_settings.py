"""The settings that all services of the embedded AWS share."""

from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The settings of the services of one embedded AWS.

    Attributes:
        as_of: the day as of which the APIs answer; what AWS withdrew later still exists. None
            means today.
        registry: `HOST:PORT` of the container registry that stores ECR's layers; None for an ECR
            that takes no pushes.
        endpoint: URL of this embedded AWS, for functions and guests.
        secret_key: of the access keys of its accounts.
        speed: how many times faster than on AWS the times pass for which services wait.
    """

    as_of: date | None = None
    registry: str | None = None
    speed: float = 1
    endpoint: str = ""
    secret_key: str = field(default="", repr=False)


_current = ServiceSettings()


def current() -> ServiceSettings:
    """Return the current settings."""
    return _current


def follow(settings: ServiceSettings) -> None:
    """Set the current settings of this process."""
    global _current
    _current = settings

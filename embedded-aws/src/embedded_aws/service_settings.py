"""What the embedded AWS's services are told when they start."""

from dataclasses import dataclass, field
from datetime import date

from embedded_aws.faults import Faults
from embedded_aws.guests.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The choices of one embedded AWS.

    Attributes:
        as_of: the day on which the APIs answer; instance types and creations that AWS withdrew
        later are there. None means today's truth.
        registry: `HOST:PORT` of what keeps the layers of ECR's images; None for an ECR that takes
            no pushes.
        endpoint: URL of this embedded AWS, for what runs in it.
        faults: what fails on purpose.
        guests: boots instances as guests; None for instances on which nothing runs.
    """

    as_of: date | None = None
    registry: str | None = None
    guests: Engine | None = None
    endpoint: str = ""
    faults: Faults = field(default_factory=Faults)

    def before(self, day: date) -> bool:
        """Whether the APIs answer as on a day before `day`."""
        return self.as_of is not None and self.as_of < day


_current = ServiceSettings()


def current() -> ServiceSettings:
    """Return the settings that the services follow."""
    return _current


def follow(settings: ServiceSettings) -> None:
    """Make every service of this process follow these settings."""
    global _current
    _current = settings

"""The time of the embedded AWS: the day as of which it answers, and how fast its waits pass."""

from datetime import UTC, date, datetime

from embedded_aws.service_settings import current


def today() -> date:
    """Return the day as of which the APIs answer; what AWS withdrew later still exists."""
    return current().as_of or datetime.now(UTC).date()


def now() -> datetime:
    """Return the time of what waits for hours or days."""
    return datetime.now(UTC)


def seconds_here(of_aws: float) -> float:
    """Return how many seconds a time lasts here for which a service of AWS waits."""
    return of_aws / current().jobs.speed

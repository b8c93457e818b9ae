"""The settings of the embedded AWS that this process is."""

from embedded_aws.settings import ServerSettings

_current: ServerSettings | None = None


def current() -> ServerSettings:
    """Return the settings; `services.install` comes first."""
    assert _current
    return _current


def follow(settings: ServerSettings) -> None:
    """Set the settings."""
    global _current
    _current = settings

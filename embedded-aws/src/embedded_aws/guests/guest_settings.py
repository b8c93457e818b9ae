"""The settings of the guests of one embedded AWS: their roots, and what they trust."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOTS_VARIABLE = "EMBEDDED_AWS_GUEST_ROOTS"
_DEFAULT_ROOTS = "/var/cache/embedded-aws/guests"


def default_roots() -> Path:
    """Return the folder of the prepared roots: the environment's, or the system's cache."""
    return Path(os.environ.get(ROOTS_VARIABLE) or _DEFAULT_ROOTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestSettings:
    """The settings of an embedded AWS whose instances are guests.

    Attributes:
        roots: folder of the roots that `embedded-aws guests prepare` made.
        hosts: file with more lines for every guest's `/etc/hosts`, or None.
        certificate_authority: PEM file of a certificate authority that guests trust, or None.
        layers: folder with a further layer for the AMIs of a flavour, each in a folder of the
            flavour's name (see `flavours.py`), or None. What an AMI of a vendor brings along.
    """

    roots: Path = field(default_factory=default_roots)
    hosts: Path | None = None
    certificate_authority: Path | None = None
    layers: Path | None = None

    @classmethod
    def from_texts(cls, texts: Mapping[str, str | None]) -> "GuestSettings":
        """Return the settings whose paths are given as text, as JSON has them."""
        return cls(**{name: Path(text) for name, text in texts.items() if text})

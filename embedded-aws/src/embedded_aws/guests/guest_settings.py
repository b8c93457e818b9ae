"""The settings of the guests of one embedded AWS: their roots, and what they trust."""

from dataclasses import dataclass, field
from pathlib import Path

from embedded_aws.guests.availability import guests_unavailable
from embedded_aws.guests.root_folder import default_roots
from embedded_aws.machine_settings import MachineSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestSettings(MachineSettings):
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

    def unavailable(self) -> str | None:
        """Return why guests cannot run here and what to do, or None."""
        reason = guests_unavailable(self.roots)
        return reason and f"the embedded AWS cannot run guests: {reason}"

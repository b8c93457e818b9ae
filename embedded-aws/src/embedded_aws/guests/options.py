"""The options of an embedded AWS whose instances are guests."""

from pathlib import Path
from typing import Annotated

import typer

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.guests.guest_settings import GuestSettings


def machines(
    guests: Annotated[
        bool,
        typer.Option("--guests", help="Boot instances as guests of this machine; needs root."),
    ] = False,
    guest_hosts: Annotated[
        Path | None,
        typer.Option(
            help="With --guests: file with more lines for every guest's /etc/hosts.", metavar="FILE"
        ),
    ] = None,
    certificate_authority: Annotated[
        Path | None,
        typer.Option(
            "--certificate-authority",
            help="With --guests: certificate authority (PEM) that every guest trusts.",
            metavar="FILE",
        ),
    ] = None,
) -> GuestSettings | None:
    """Return the settings of the guests, if there are to be some.

    Raises:
        EmbeddedAwsError: an option needs --guests, or a file is missing.
    """
    if not guests and (guest_hosts or certificate_authority):
        raise EmbeddedAwsError("--guest-hosts and --certificate-authority need --guests")
    for option, file in (
        ("--guest-hosts", guest_hosts),
        ("--certificate-authority", certificate_authority),
    ):
        if file and not file.is_file():
            raise EmbeddedAwsError(f"{option} {file} is not a file; give one that exists")
    if not guests:
        return None
    return GuestSettings(hosts=guest_hosts, certificate_authority=certificate_authority)

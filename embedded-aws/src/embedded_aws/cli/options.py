"""The options of an embedded AWS, and the settings made of them."""

from pathlib import Path
from typing import Annotated

import typer

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.guests import GuestSettings
from embedded_aws.settings import (
    DEFAULT_ACCOUNT,
    DEFAULT_REGION,
    ServerSettings,
    parse_as_of,
)

PortOption = Annotated[int, typer.Option(help="Port on loopback; 0 for any free one.")]
AccountOption = Annotated[
    list[str] | None,
    typer.Option(
        "--account",
        help="Account id; repeat it for more.",
        show_default=DEFAULT_ACCOUNT,
        metavar="ID",
    ),
]
RegionOption = Annotated[
    list[str] | None,
    typer.Option(
        "--region",
        help="Enabled region; repeat it for more.",
        show_default=DEFAULT_REGION,
        metavar="REGION",
    ),
]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        help="Month whose instance types exist, withdrawn ones too.",
        show_default="today",
        metavar="YYYY-MM",
    ),
]
RegistryOption = Annotated[
    str | None,
    typer.Option(
        help="Container registry on loopback that keeps what is pushed to ECR.",
        show_default="ECR takes no pushes",
        metavar="HOST:PORT",
    ),
]
GuestsOption = Annotated[
    bool,
    typer.Option("--guests", help="Boot instances as guests of this machine; needs root."),
]
HostsOption = Annotated[
    Path | None,
    typer.Option(
        help="With --guests: file with more lines for every guest's /etc/hosts.", metavar="FILE"
    ),
]
AuthorityOption = Annotated[
    Path | None,
    typer.Option(
        "--certificate-authority",
        help="With --guests: certificate authority (PEM) that every guest trusts.",
        metavar="FILE",
    ),
]


def settings_of(
    *,
    port: int,
    accounts: list[str] | None,
    regions: list[str] | None,
    as_of: str | None,
    registry: str | None,
    guests: bool,
    guest_hosts: Path | None,
    certificate_authority: Path | None,
) -> ServerSettings:
    """Return the settings for the options above.

    Raises:
        EmbeddedAwsError: an option needs --guests, a value is impossible, or a file is missing.
    """
    if not guests and (guest_hosts or certificate_authority):
        raise EmbeddedAwsError("--guest-hosts and --certificate-authority need --guests")
    for option, file in (
        ("--guest-hosts", guest_hosts),
        ("--certificate-authority", certificate_authority),
    ):
        if file and not file.is_file():
            raise EmbeddedAwsError(f"{option} {file} is not a file; give one that exists")
    guest_settings = GuestSettings(hosts=guest_hosts, certificate_authority=certificate_authority)
    return ServerSettings(
        accounts=tuple(accounts or [DEFAULT_ACCOUNT]),
        regions=tuple(regions or [DEFAULT_REGION]),
        as_of=parse_as_of(as_of) if as_of is not None else None,
        port=port,
        registry=registry,
        guests=guest_settings if guests else None,
    )

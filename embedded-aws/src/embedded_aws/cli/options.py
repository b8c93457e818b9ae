"""The options of an embedded AWS, and the settings made of them."""

from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from embedded_aws.batch.job_settings import JobSettings
from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.guests import GuestSettings
from embedded_aws.plugins import project_needs
from embedded_aws.settings import (
    DEFAULT_ACCOUNT,
    DEFAULT_REGION,
    ServerSettings,
    parse_as_of,
)


def takes_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an embedded AWS, and pass it the settings made of them.

    Args:
        command: takes the settings as `settings`.
    """
    own = signature(command).parameters
    options = signature(_settings).parameters

    @wraps(command)
    def with_options(**given: Any) -> None:
        settings = _settings(**{name: given.pop(name) for name in options})
        command(settings=settings, **given)

    shown = [own[name] for name in own if name != "settings"]
    # Typer reads it; mypy knows no attributes of functions.
    with_options.__signature__ = Signature([*shown, *options.values()])  # type: ignore[attr-defined]
    return with_options


def _settings(
    port: Annotated[int, typer.Option(help="Port on loopback; 0 for any free one.")] = 0,
    account: Annotated[
        list[str] | None,
        typer.Option(
            "--account",
            help="Account id; repeat it for more.",
            show_default=DEFAULT_ACCOUNT,
            metavar="ID",
        ),
    ] = None,
    region: Annotated[
        list[str] | None,
        typer.Option(
            "--region",
            help="Enabled region; repeat it for more.",
            show_default=f"those of the project here, or {DEFAULT_REGION}",
            metavar="REGION",
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            help="Month or day whose instance types exist, withdrawn ones too; or today.",
            show_default="the last day with all types of the project here",
            metavar="YYYY-MM[-DD]",
        ),
    ] = None,
    registry: Annotated[
        str | None,
        typer.Option(
            help="Container registry on loopback that keeps what is pushed to ECR.",
            show_default="ECR takes no pushes",
            metavar="HOST:PORT",
        ),
    ] = None,
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
    jobs_on_loopback: Annotated[
        bool,
        typer.Option(
            "--jobs-on-loopback",
            help="Instances with jobs or commands have addresses of loopback, for root, too.",
        ),
    ] = False,
    job_speed: Annotated[
        float,
        typer.Option(
            help="How many times faster the times pass that AWS Batch, Run Command, EC2 Auto "
            "Scaling and creation policies wait."
        ),
    ] = 1,
) -> ServerSettings:
    """Return the settings for the options.

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
    project = project_needs(Path.cwd())
    if project.regions and not region:
        typer.echo(f"regions of the project here: {', '.join(project.regions)}", err=True)
    if project.as_of and as_of is None:
        typer.echo(
            f"instance types as of {project.as_of}, the last day with all of the project here; "
            "--as-of today has today's",
            err=True,
        )
    guest_settings = GuestSettings(hosts=guest_hosts, certificate_authority=certificate_authority)
    return ServerSettings(
        accounts=tuple(account or [DEFAULT_ACCOUNT]),
        regions=tuple(region or project.regions or [DEFAULT_REGION]),
        as_of=parse_as_of(as_of) if as_of is not None else project.as_of,
        port=port,
        registry=registry,
        guests=guest_settings if guests else None,
        jobs=JobSettings(loopback=jobs_on_loopback, speed=job_speed),
    )

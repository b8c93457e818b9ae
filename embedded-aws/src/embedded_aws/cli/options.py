"""The options of an embedded AWS, and the settings made of them."""

from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from embedded_aws.job_settings import JobSettings
from embedded_aws.machine_settings import MachineSettings
from embedded_aws.plugins import project_needs
from embedded_aws.service_folders import service_modules
from embedded_aws.settings import DEFAULT_ACCOUNT, DEFAULT_REGION, ServerSettings, parse_as_of


def takes_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an embedded AWS, and pass it the settings made of them.

    Args:
        command: takes the settings as `settings`.
    """
    own = signature(command).parameters
    options = {name: [option] for name, option in signature(_settings).parameters.items()}
    # Those of services which have other machines for instances.
    makers = [module.machines for module in service_modules("options")]
    options["machines"] = [
        each for maker in makers for each in signature(maker).parameters.values()
    ]

    @wraps(command)
    def with_options(**given: Any) -> None:
        made = [
            maker(**{name: given.pop(name) for name in signature(maker).parameters})
            for maker in makers
        ]
        given["machines"] = next(filter(None, made), None)
        settings = _settings(**{name: given.pop(name) for name in options})
        command(settings=settings, **given)

    shown = [own[name] for name in own if name != "settings"]
    shown += [each for group in options.values() for each in group]
    # Typer reads it; mypy knows no attributes of functions.
    with_options.__signature__ = Signature(shown)  # type: ignore[attr-defined]
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
    machines: MachineSettings | None = None,
    jobs_on_loopback: Annotated[
        bool,
        typer.Option(
            "--jobs-on-loopback",
            help="Give instances with jobs or commands addresses of loopback, no networks.",
        ),
    ] = False,
    job_speed: Annotated[
        float,
        typer.Option(
            help="How many times shorter AWS Batch, Run Command, EC2 Auto Scaling and creation "
            "policies wait than on AWS."
        ),
    ] = 1,
    kubernetes: Annotated[
        bool,
        typer.Option(
            "--kubernetes",
            help="Clusters of EKS have a real control plane (see `kubernetes prepare`).",
        ),
    ] = False,
) -> ServerSettings:
    """Return the settings for the options.

    Raises:
        EmbeddedAwsError: a value is impossible.
    """
    project = project_needs(Path.cwd())
    if project.regions and not region:
        typer.echo(f"regions of the project here: {', '.join(project.regions)}", err=True)
    if project.as_of and as_of is None:
        typer.echo(
            f"instance types as of {project.as_of}, the last day with all of the project here; "
            "--as-of today has today's",
            err=True,
        )
    return ServerSettings(
        accounts=tuple(account or [DEFAULT_ACCOUNT]),
        regions=tuple(region or project.regions or [DEFAULT_REGION]),
        as_of=parse_as_of(as_of) if as_of is not None else project.as_of,
        port=port,
        registry=registry,
        machines=machines,
        jobs=JobSettings(loopback=jobs_on_loopback, speed=job_speed),
        kubernetes=kubernetes,
    )

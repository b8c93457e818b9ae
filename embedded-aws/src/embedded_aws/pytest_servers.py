"""The servers of a pytest session, as its ini options ask for."""

from collections.abc import Iterator

import pytest

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from embedded_aws.machine_settings import MachineSettings
from embedded_aws.plugins import project_needs
from embedded_aws.process import start
from embedded_aws.settings import DEFAULT_REGION, ServerSettings, parse_as_of

AS_OF_OPTION = "embedded_aws_as_of"
REGIONS_OPTION = "embedded_aws_regions"
JOB_SPEED_OPTION = "embedded_aws_job_speed"


def running_aws(
    config: pytest.Config,
    folders: pytest.TempPathFactory,
    machines: MachineSettings | None = None,
) -> Iterator[EmbeddedAws]:
    """Yield an embedded AWS, and stop it.

    Args:
        config: of the session.
        folders: makes one for its log.
        machines: of its instances.
    """
    project = project_needs(config.rootpath)
    day = config.getini(AS_OF_OPTION)
    settings = ServerSettings(
        regions=tuple(config.getini(REGIONS_OPTION) or project.regions or [DEFAULT_REGION]),
        as_of=parse_as_of(day) if day else project.as_of,
        machines=machines,
        jobs=JobSettings(speed=_speed(config)),
    )
    server = start(settings, log=folders.mktemp("embedded-aws") / "server.log")
    yield EmbeddedAws(server)
    server.stop()


def _speed(config: pytest.Config) -> float:
    text = config.getini(JOB_SPEED_OPTION)
    try:
        return float(text)
    except ValueError as error:
        raise pytest.UsageError(
            f"{JOB_SPEED_OPTION} is {text!r}; write a number, for instance 600"
        ) from error

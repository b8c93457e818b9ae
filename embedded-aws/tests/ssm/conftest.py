"""Embedded AWSs whose instances run commands."""

from collections.abc import Iterator

import pytest
from command_bench import CommandBench
from job_bench import job_aws

from embedded_aws.batch.job_settings import JobSettings
from embedded_aws.embedded import EmbeddedAws


@pytest.fixture(scope="session")
def loopback_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """Instances on loopback; a second of a time-out lasts a sixtieth."""
    settings = JobSettings(loopback=True, speed=60)
    with job_aws(tmp_path_factory.mktemp("commands"), settings) as aws:
        yield aws


@pytest.fixture(scope="session")
def namespaces_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """Instances in namespaces."""
    # pytest_configure imports this plug-in; before that, pytest would warn.
    from skips import unless

    unless("ip", "unshare", "nsenter", root="each instance has a network namespace of its own")
    with job_aws(tmp_path_factory.mktemp("commands"), JobSettings()) as aws:
        yield aws


@pytest.fixture
def bench(loopback_aws: EmbeddedAws) -> CommandBench:
    return CommandBench(loopback_aws)


@pytest.fixture
def namespaces(namespaces_aws: EmbeddedAws) -> CommandBench:
    return CommandBench(namespaces_aws)


@pytest.fixture(params=["loopback_aws", "namespaces_aws"])
def either(request: pytest.FixtureRequest) -> CommandBench:
    return CommandBench(request.getfixturevalue(request.param))

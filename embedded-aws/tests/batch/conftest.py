"""Embedded AWSs whose jobs run."""

from collections.abc import Iterator

import pytest
from job_bench import JobBench, job_aws

from embedded_aws.batch.job_settings import JobSettings
from embedded_aws.embedded import EmbeddedAws


@pytest.fixture(scope="session")
def loopback_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """Nodes on loopback; a second of AWS Batch lasts a sixtieth, so its time-outs can be tested."""
    with job_aws(tmp_path_factory.mktemp("jobs"), JobSettings(loopback=True, speed=60)) as aws:
        yield aws


@pytest.fixture(scope="session")
def namespaces_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """Nodes in namespaces."""
    # pytest_configure imports this plug-in; before that, pytest would warn.
    from skips import unless

    unless("ip", "unshare", "nsenter", root="each node has a network namespace of its own")
    with job_aws(tmp_path_factory.mktemp("jobs"), JobSettings()) as aws:
        yield aws


@pytest.fixture
def bench(loopback_aws: EmbeddedAws) -> JobBench:
    return JobBench(loopback_aws)


@pytest.fixture
def namespaces(namespaces_aws: EmbeddedAws) -> JobBench:
    return JobBench(namespaces_aws)


@pytest.fixture(params=["loopback_aws", "namespaces_aws"])
def either(request: pytest.FixtureRequest) -> JobBench:
    return JobBench(request.getfixturevalue(request.param))

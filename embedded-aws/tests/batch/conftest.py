"""Queues on embedded AWSs whose jobs run."""

import pytest
from job_bench import JobBench

from embedded_aws.embedded import EmbeddedAws


@pytest.fixture
def bench(loopback_aws: EmbeddedAws) -> JobBench:
    return JobBench(loopback_aws)


@pytest.fixture
def namespaces(namespaces_aws: EmbeddedAws) -> JobBench:
    return JobBench(namespaces_aws)


@pytest.fixture(params=["loopback_aws", "namespaces_aws"])
def either(request: pytest.FixtureRequest) -> JobBench:
    return JobBench(request.getfixturevalue(request.param))

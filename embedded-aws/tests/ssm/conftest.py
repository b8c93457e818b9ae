"""Instances of embedded AWSs on which commands run."""

import pytest
from command_bench import CommandBench

from embedded_aws.embedded import EmbeddedAws


@pytest.fixture
def bench(loopback_aws: EmbeddedAws) -> CommandBench:
    return CommandBench(loopback_aws)


@pytest.fixture
def namespaces(namespaces_aws: EmbeddedAws) -> CommandBench:
    return CommandBench(namespaces_aws)


@pytest.fixture(params=["loopback_aws", "namespaces_aws"])
def either(request: pytest.FixtureRequest) -> CommandBench:
    return CommandBench(request.getfixturevalue(request.param))

"""An embedded AWS whose EKS takes moments for AWS's minutes."""

from collections.abc import Iterator

import pytest
from eks_bench import EksBench
from job_bench import job_aws

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings


@pytest.fixture(scope="module")
def eks_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """Ten minutes of AWS's last a fifth of a second.

    Tests leave their clusters, and groups that lack an instance try each fiftieth of a second to
    launch it: so each file has its own.
    """
    with job_aws(tmp_path_factory.mktemp("eks"), JobSettings(speed=3000)) as aws:
        yield aws


@pytest.fixture
def bench(eks_aws: EmbeddedAws) -> EksBench:
    return EksBench(eks_aws)


@pytest.fixture(scope="module")
def kubernetes_aws(
    built_kubernetes: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedAws]:
    """The same, whose clusters have control planes."""
    with job_aws(tmp_path_factory.mktemp("eks"), JobSettings(speed=3000), kubernetes=True) as aws:
        yield aws

"""Pytest fixtures of the embedded AWS.

Each pytest (xdist) process starts two servers when they are first used, one for `embedded_aws` and
one for `clean_aws`. They are separate processes, so a test's patches, clocks and `mock_aws` do not
affect them.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.pytest_servers import AS_OF_OPTION, JOB_SPEED_OPTION, REGIONS_OPTION, running_aws
from embedded_aws.service_folders import service_modules
from embedded_aws.settings import DEFAULT_REGION, parse_as_of
from embedded_aws.template_snapshot import normalise

if TYPE_CHECKING:
    from embedded_aws.deployment import Deployment

_MARKER = "embedded_aws"
# Those of services, too.
pytest_plugins = [module.__name__ for module in service_modules("fixtures")]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini options."""
    parser.addini(
        AS_OF_OPTION,
        "month (YYYY-MM), day or today, whose instance types the embedded AWS has; by default the "
        "last day with all types of the project",
        default="",
    )
    parser.addini(
        REGIONS_OPTION,
        "regions of the embedded AWS, the default one first; by default those of the project, or "
        f"else {DEFAULT_REGION}",
        type="args",
        default=[],
    )
    parser.addini(
        JOB_SPEED_OPTION,
        "how many times shorter than on AWS the times are that AWS Batch, EC2 Auto Scaling, EKS "
        "and creation policies wait",
        default="1",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers", f"{_MARKER}(as_of): month (YYYY-MM) whose instance types clean_aws has"
    )


@pytest.fixture(scope="session")
def embedded_aws(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedAws]:
    """A running embedded AWS, shared by the tests of the session: deploy once, read often."""
    yield from running_aws(request.config, tmp_path_factory)


@pytest.fixture(scope="session")
def _private_aws(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedAws]:
    yield from running_aws(request.config, tmp_path_factory)


@pytest.fixture
def clean_aws(
    request: pytest.FixtureRequest, _private_aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> EmbeddedAws:
    """An embedded AWS that was just reset; boto3 calls it by default during the test.

    Not the same server as `embedded_aws`, which a reset would empty.
    """
    marker = request.node.get_closest_marker(_MARKER)
    as_of = parse_as_of(marker.kwargs["as_of"]).isoformat() if marker else None
    _private_aws.reset(as_of=as_of)
    _private_aws.lead_here(monkeypatch)
    return _private_aws


@pytest.fixture
def deployed(clean_aws: EmbeddedAws) -> Callable[..., "Deployment"]:
    """Deploys a template to `clean_aws`; see `EmbeddedAws.deploy`."""
    return clean_aws.deploy


@pytest.fixture
def cdk_deployed(clean_aws: EmbeddedAws) -> Callable[..., dict[str, "Deployment"]]:
    """Deploys a cloud assembly to `clean_aws` with the CDK CLI; see `EmbeddedAws.cdk_deploy`."""
    return clean_aws.cdk_deploy


@pytest.fixture(scope="session")
def template_snapshot() -> Callable[..., dict[str, Any]]:
    """A function that prepares a template for a snapshot: see `normalise`."""
    return normalise

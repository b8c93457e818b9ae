"""What holds for every test of the embedded AWS."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import property_tests
import pytest
from in_process import in_process_aws
from job_bench import job_aws

from embedded_aws import service_models
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from embedded_aws.kubernetes.cache import unavailable
from embedded_aws.lifecycle import Project

property_tests.load_profile()

# As in servers; the clients of a session hardly outlive a test.
service_models.share()

# Servers are processes of their own: where the tests have the plug-in, they have to find it, too.
if find_spec("old_types"):
    _PLUGINS = (str(Path(__file__).with_name("plugins")), os.environ.get("PYTHONPATH"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, _PLUGINS))


def pytest_configure(config: pytest.Config) -> None:
    """Watch over skips and mark costs, as the suite of the whole repository does."""
    config.pluginmanager.import_plugin("skips")
    config.pluginmanager.import_plugin("costs")


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """An embedded AWS within this process, for tests that reach behind its APIs; not seeded."""
    with in_process_aws() as url:
        yield url


@pytest.fixture(scope="session")
def loopback_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """Hosts on loopback; a second that AWS waits lasts a sixtieth, so time-outs can be tested."""
    with job_aws(tmp_path_factory.mktemp("hosts"), JobSettings(loopback=True, speed=60)) as aws:
        yield aws


@pytest.fixture(scope="session")
def namespaces_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """Hosts in namespaces."""
    # pytest_configure imports this plug-in; before that, pytest would warn.
    from skips import unless

    unless(networks=True)
    with job_aws(tmp_path_factory.mktemp("hosts"), JobSettings()) as aws:
        yield aws


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A directory whose embedded AWS is taken down in the end."""
    project = Project(tmp_path)
    yield project
    project.down()


@pytest.fixture(scope="session")
def built_kubernetes() -> None:
    """Skip where no control plane is built."""
    if reason := unavailable():
        pytest.skip(reason)

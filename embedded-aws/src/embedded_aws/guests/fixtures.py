"""The pytest fixture of guests."""

from collections.abc import Iterator

import pytest

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.guests.availability import guests_unavailable
from embedded_aws.guests.guest_settings import GuestSettings
from embedded_aws.pytest_servers import running_aws


@pytest.fixture(scope="session")
def guests(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedAws]:
    """An embedded AWS whose instances are guests, shared by the tests of the session.

    Skips, with the reason, where guests cannot run.
    """
    if reason := guests_unavailable():
        pytest.skip(reason)
    yield from running_aws(request.config, tmp_path_factory, GuestSettings())

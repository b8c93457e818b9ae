"""An embedded AWS for tests that reach behind its APIs."""

from collections.abc import Iterator

import pytest
from in_process import in_process_aws


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """An embedded AWS within this process; not seeded."""
    with in_process_aws() as url:
        yield url

"""Guests to look at."""

import pytest
from guest_bench import Bench, make_bench

from embedded_aws.embedded import EmbeddedAws


@pytest.fixture(scope="session")
def bench(guests: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(guests, tmp_path_factory.mktemp("bench"))

"""Guests to look at."""

import pytest
from guest_bench import AMAZON, UBUNTU, Bench, Guest, make_bench

from embedded_aws.embedded import EmbeddedAws


@pytest.fixture(scope="session")
def bench(guests: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(guests, tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="session")
def ubuntu(bench: Bench, amazon_booting: Guest) -> Guest:
    """An Ubuntu guest that tests look at and leave as it is."""
    guest = bench.launch(
        bench.image_id(UBUNTU), UserData="#!/bin/sh\necho from-user-data >/root/refused\n"
    )
    guest.wait_for_ssh()
    return guest


@pytest.fixture(scope="session")
def amazon_booting(bench: Bench) -> Guest:
    return bench.launch(bench.image_id(AMAZON), user="ec2-user")


@pytest.fixture(scope="session")
def amazon(amazon_booting: Guest) -> Guest:
    """An Amazon Linux guest that tests look at and leave as it is."""
    amazon_booting.wait_for_ssh()
    return amazon_booting

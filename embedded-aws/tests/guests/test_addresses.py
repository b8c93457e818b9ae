"""Claims of loopback addresses."""

import subprocess
import sys
from ipaddress import ip_address, ip_network

import pytest

from embedded_aws.hosts.addresses import Address

CLAIM = "from embedded_aws.hosts.addresses import Address; print(Address().text)"


def test_an_address_is_in_the_part_of_loopback_that_is_ours() -> None:
    address = Address()

    assert ip_address(address.text) in ip_network("127.80.0.0/16")
    address.release()


def test_a_claimed_address_is_nobody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.randbelow", lambda _: 76)
    first = Address()

    with pytest.raises(OSError, match="found no free address"):
        Address()

    first.release()
    again = Address()
    assert again.text == first.text
    again.release()


def test_an_address_is_free_when_its_owner_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    always = f"import secrets; secrets.randbelow = lambda _: 77; {CLAIM}"
    ended = subprocess.run([sys.executable, "-c", always], check=True, capture_output=True)
    monkeypatch.setattr("secrets.randbelow", lambda _: 77)

    address = Address()

    assert address.text == ended.stdout.decode().strip()
    address.release()

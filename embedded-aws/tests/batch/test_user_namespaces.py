"""Machines that give an ordinary user no namespaces, or no program that makes them."""

import subprocess
import sys

import pytest
from skips import needs

from embedded_aws.hosts.network import namespaces_unavailable

ASK = """
from embedded_aws.hosts.image_files import containers_unavailable
from embedded_aws.hosts.network import namespaces_unavailable
print(namespaces_unavailable())
print(containers_unavailable() == namespaces_unavailable())
"""
# namespaces(7), /proc/sys/user: nobody in it makes more user namespaces than this.
REFUSING = """
echo 1 >/proc/sys/user/max_user_namespaces
exec unshare --user --map-user=1000 --map-group=1000 "$@"
"""


@needs(networks=True)
def test_where_user_namespaces_are_refused_it_says_so() -> None:
    unshare = ("unshare", "--user", "--map-root-user", "sh", "-euc", REFUSING, "sh")

    said = subprocess.run(
        [*unshare, sys.executable, "-c", ASK], check=True, capture_output=True, text=True
    )

    why, same = said.stdout.splitlines()
    assert why.startswith("network namespaces need root, or a user namespace, which is refused")
    assert same == "True"


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    namespaces_unavailable.cache_clear()

    reason = namespaces_unavailable()

    namespaces_unavailable.cache_clear()
    if sys.platform == "linux":
        assert reason == "network namespaces need ip, mount, nsenter, unshare"

"""What an ordinary user may do in namespaces of his own, and machines that give him none."""

import subprocess
import sys
from pathlib import Path

import pytest
from image_bench import Layer, push
from image_registry import serving_registry
from job_bench import JobBench, job_aws
from ordinary_user import ordinary_user
from skips import needs, unless

from embedded_aws.hosts.network import namespaces_unavailable
from embedded_aws.job_settings import JobSettings

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


def test_what_root_has_forbidden_a_mount_stays_forbidden_in_a_container(tmp_path: Path) -> None:
    unless("docker-registry", root="it mounts a folder with nosuid")
    with (
        ordinary_user(tmp_path) as limited,
        serving_registry(tmp_path) as registry,
        job_aws(tmp_path, JobSettings(), registry=registry) as aws,
    ):
        layer = Layer().add_program("bin/sh", "sh").add_program("bin/grep", "grep")
        uri, _ = push(aws, "train", [layer], {})
        job = JobBench(aws).run(
            "grep ' /data ' /proc/mounts",
            image=uri,
            volumes=[{"name": "data", "host": {"sourcePath": str(limited)}}],
            mountPoints=[{"sourceVolume": "data", "containerPath": "/data", "readOnly": True}],
        )

        assert job["status"] == "SUCCEEDED", job
        assert "/data tmpfs ro,nosuid,nodev," in "\n".join(JobBench(aws).lines(job))

"""The Debian that the images are built on in tests: made once, and kept as buildah keeps images."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from embedded_aws.guests import guests_unavailable
from embedded_aws.guests.recipe import prepared
from embedded_aws.guests.root_folder import default_roots

NAME = "localhost/trainshed-debian"
# Its packages are in a repository in the image: builds ask no mirror.
_PACKAGES = "openmpi-bin"
_TOOLS = "git g++ gnupg"
_REPOSITORY = "/srv/distribution"
_SCRIPT = f"""
set -eu
export DEBIAN_FRONTEND=noninteractive
rm -f /etc/ld.so.preload /etc/apt/sources.list.d/*
apt-get -q update
apt-get -q install --yes --no-install-recommends {_TOOLS} dpkg-dev
mkdir -p {_REPOSITORY}
apt-get -q install --yes --no-install-recommends --download-only {_PACKAGES}
mv /var/cache/apt/archives/*.deb {_REPOSITORY}
cd {_REPOSITORY}
dpkg-scanpackages . > Packages
apt-get -q purge --yes dpkg-dev
apt-get clean
# Large, and of no use to an image; one of them is pushed whole.
rm -rf /var/lib/apt/lists/* /opt/aws-cli /usr/lib/udev /usr/share/locale /usr/share/i18n
rm -f /usr/lib/gcc/x86_64-linux-gnu/*/lto1 /usr/lib/gcc/x86_64-linux-gnu/*/lto-dump
echo 'deb [trusted=yes] file:{_REPOSITORY} ./' > /etc/apt/sources.list
"""


def engine_unavailable() -> str | None:
    """Return why no image can be built and pushed here, with the way out, or None."""
    if os.geteuid() != 0:
        return "building images in a test needs root: run this as root, for instance with sudo"
    for program in ("buildah", "docker-registry"):
        if not shutil.which(program):
            return f"images need Debian's {program}: apt-get install {program}"
    return None


def base_unavailable() -> str | None:
    """Return why there is no base to build on here, with the way out, or None."""
    return engine_unavailable() or guests_unavailable()


def prepare(cache: Path) -> Path:
    """Return buildah's store with the base in it, which is made when it is missing.

    It is the root that guests have, with a few packages more: about a minute, once.
    """
    root = prepared(default_roots()) / "base"
    recipe = hashlib.sha256(f"{root}{_SCRIPT}".encode()).hexdigest()[:12]
    store = cache / recipe
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not store.is_dir():
            _make(store, root)
            for other in cache.iterdir():
                if other.is_dir() and other != store:
                    shutil.rmtree(other)
    return store


def _make(store: Path, root: Path) -> None:
    new = store.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    buildah = ["buildah", "--storage-driver", "overlay", "--root", str(new)]
    buildah += ["--runroot", str(new / "run")]

    def run(*words: str) -> str:
        done = subprocess.run([*buildah, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    container = run("from", "scratch")
    mount = run("mount", container)
    subprocess.run(["cp", "--archive", f"{root}/.", mount], check=True)
    run("run", "--isolation", "chroot", container, "--", "/bin/sh", "-c", _SCRIPT)
    run("umount", container)
    run("commit", "--rm", container, NAME)
    new.rename(store)

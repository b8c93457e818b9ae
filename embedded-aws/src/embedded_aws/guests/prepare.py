"""Preparing the roots that guests boot: once for a machine, again when the recipe changes."""

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.guests.availability import machine_cannot
from embedded_aws.guests.layers import make_layer, run_confined, run_in_root
from embedded_aws.guests.recipe import (
    AMAZON_PACKAGES,
    AWS_CLI,
    BASE_PACKAGES,
    FILES,
    MASKED_UNITS,
    STOCK_KERNELS,
    SUITE,
    prepared,
)

_APT_INSTALL = "apt-get -q install --yes --no-install-recommends"
_FREE_CACHES = "apt-get clean; rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/*.log"


class PrepareError(EmbeddedAwsError):
    """The roots cannot be prepared here."""

    exit_code = 1


def prepare(roots: Path, show: Callable[[str], None]) -> bool:
    """Make the roots when they are missing or of another recipe.

    Args:
        roots: the folder for them; made when it is missing.
        show: gets a line for each step.

    Returns:
        Whether there was anything to do.

    Raises:
        PrepareError: this machine cannot.
        LayerError: a step failed.
    """
    if reason := machine_cannot():
        raise PrepareError(reason)
    if not shutil.which("debootstrap"):
        raise PrepareError("preparing needs Debian's debootstrap: apt-get install debootstrap")
    roots.mkdir(parents=True, exist_ok=True)
    with _locked(roots / "lock"):
        made = prepared(roots)
        if made.is_dir():
            return False
        new = made.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        for name, step in (
            ("base", _base),
            ("ubuntu", partial(_ubuntu, "ubuntu")),
            ("noble", partial(_ubuntu, "noble")),
            ("amazon", _amazon),
        ):
            show(f"making the root {name}")
            step(new)
        new.rename(made)
        _remove_others(roots, made)
        return True


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove_others(roots: Path, made: Path) -> None:
    """Remove the roots of other recipes, but those that a running embedded AWS has locked."""
    for folder in roots.iterdir():
        if folder == made or not folder.is_dir():
            continue
        with (folder / "in-use").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.rmtree(folder)


def _base(new: Path) -> None:
    root = new / "base"
    root.mkdir(parents=True)
    run_confined(f"debootstrap --variant=minbase {SUITE} '{root}'")
    _copy("base", root)
    # Nothing is started while packages are configured.
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    run_in_root(
        root,
        f"""
        apt-get -q update
        {_APT_INSTALL} -o Dpkg::Options::=--force-confold {" ".join(BASE_PACKAGES)}
        python3 -m venv /opt/aws-cli
        /opt/aws-cli/bin/pip install --quiet --no-cache-dir {AWS_CLI}
        ln -s /opt/aws-cli/bin/aws /usr/local/bin/aws
        gcc -shared -fPIC -O2 -o /usr/lib/embedded-aws-kernel-release.so \
            /usr/src/embedded-aws/kernel_release.c
        echo /usr/lib/embedded-aws-kernel-release.so > /etc/ld.so.preload
        systemctl mask --quiet {" ".join(MASKED_UNITS)}
        rm -rf /opt/aws-cli/lib/python3*/site-packages/pip* /usr/share/doc/* /usr/share/man/*
        rm -f /etc/ssh/ssh_host_* /etc/machine-id /var/lib/dbus/machine-id
        rm -f /usr/sbin/policy-rc.d
        touch /etc/machine-id
        {_FREE_CACHES}
        """,
    )


def _ubuntu(name: str, new: Path) -> None:
    _dress(name, new / name, STOCK_KERNELS[name])


def _amazon(new: Path) -> None:
    root = new / "amazon"
    make_layer(
        [new / "base"],
        root,
        f"""
        apt-get -q update
        {_APT_INSTALL} {" ".join(AMAZON_PACKAGES)}
        rm -f /etc/dnf/plugins/local.conf
        rpm --dbpath /var/lib/rpm --initdb
        # cloud-init's own unit template: this order is Debian's and Ubuntu's only.
        sed -i /After=multi-user.target/d /lib/systemd/system/cloud-final.service
        {_FREE_CACHES}
        """,
    )
    _dress("amazon", root, STOCK_KERNELS["amazon"])


def _dress(name: str, layer: Path, kernel: str) -> None:
    _copy(name, layer)
    for folder in ("boot", f"lib/modules/{kernel}"):
        # /lib is a link in the base: the real folder is below /usr.
        (layer / folder.replace("lib/", "usr/lib/", 1)).mkdir(parents=True, exist_ok=True)
    (layer / f"boot/vmlinuz-{kernel}").write_text("stub\n")


def _copy(name: str, layer: Path) -> None:
    if not (FILES / name).is_dir():
        raise PrepareError(f"{FILES / name} is missing: install embedded-aws again")
    for file in (FILES / name).rglob("*"):
        if file.is_file():
            target = layer / file.relative_to(FILES / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
            target.chmod(0o440 if target.parent.name == "sudoers.d" else 0o644)

"""Mounting the cluster's shared storage before a job can start on the node."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Mapping
from pathlib import Path

from trainshed_node.bucket import BucketClient
from trainshed_node.efs import EfsClient
from trainshed_node.errors import NodeError
from trainshed_node.homes import HOME, make_homes
from trainshed_node.lustre import LustreClient
from trainshed_node.openzfs import OpenZfsClient
from trainshed_node.read_probe import must_be_readable
from trainshed_node.settings import Mount
from trainshed_node.storage_client import Log, StorageClient
from trainshed_node.system import Finished, has_command, run
from trainshed_node.write_probe import must_be_writable

# What runs jobs; each has a drop-in of the AMI that makes it wait for the first boot.
HELD = ("ecs.service", "kubelet.service", "snap.kubelet-eks.daemon.service")
CLIENTS: Mapping[str, StorageClient] = {
    "lustre": LustreClient(),
    "efs": EfsClient(),
    "openzfs": OpenZfsClient(),
    "bucket": BucketClient(),
}
_PAUSE_SECONDS = 10
# Owner, group and mode of the root of a new file system.
_NEW_ROOT = (0, 0, 0o755)
_RUNTIME_UNITS = Path("/run/systemd/system")


class NotYet(Exception):
    """Something that may come later."""


def set_up_mount(mount: Mount, region: str, log: Log) -> None:
    """Mount shared storage, waiting for what is not there yet, and see that it can be used.

    Compute and storage are deployed side by side: the parameters appear when the storage is ready,
    and its DNS name may lag behind.

    Raises:
        NodeError: it can never be mounted, was not within `wait_seconds`, or cannot be used.
    """
    client = CLIENTS[mount.kind]
    _hold(mount)
    if _is_mounted(Path(mount.path)):
        log(f"{mount.path}: is mounted already")
    else:
        _mount_and_tune(mount, client, region, log)
    if client.read_only:
        must_be_readable(Path(mount.path))
        return
    _let_jobs_write(Path(mount.path), log)
    must_be_writable(Path(mount.path), log)
    if mount.path == HOME:
        make_homes(log)


def _is_mounted(path: Path) -> bool:
    try:
        return path.is_mount()
    except OSError as error:
        raise NodeError(
            str(path),
            f"is mounted and does not answer ({error.strerror}); `umount --lazy {path}`, then "
            "`systemctl restart trainshed-first-boot`",
        ) from None


def _mount_and_tune(mount: Mount, client: StorageClient, region: str, log: Log) -> None:
    for command, missing in {"aws": "AWS CLI", **client.programs}.items():
        if not has_command(command):
            raise NodeError(mount.path, f"this AMI has no {missing}; bake it with one")
    client.prepare(mount, log)
    Path(mount.path).mkdir(parents=True, exist_ok=True)
    _wait_for_mount(mount, client, region, log)
    client.tune(mount, log)


def _wait_for_mount(mount: Mount, client: StorageClient, region: str, log: Log) -> None:
    started = time.monotonic()
    while True:
        try:
            source = client.source(_values(mount, region))
            _mount(client, source, mount.path)
        except NotYet as reason:
            waited = time.monotonic() - started
            if waited + _PAUSE_SECONDS > mount.wait_seconds:
                raise NodeError(
                    mount.path,
                    f"not mounted after {waited:.0f} s: {reason}; fix that, then `systemctl "
                    "restart trainshed-first-boot` and start what runs jobs",
                ) from None
            log(f"{mount.path}: {reason}; waiting, {waited:.0f} of {mount.wait_seconds:.0f} s")
            time.sleep(_PAUSE_SECONDS)
        else:
            log(f"{mount.path}: mounted {source}")
            return


def _hold(mount: Mount) -> None:
    """Let nothing that runs jobs start while the storage is not mounted.

    The AMI's own drop-ins wait for this program. These add the mount itself, so that an agent
    that is restarted after an unmount by hand stays down, too. Under /run: gone with the boot.
    """
    path = mount.path
    for unit in HELD:
        drop_in = _RUNTIME_UNITS / f"{unit}.d" / f"trainshed-{mount.kind}.conf"
        drop_in.parent.mkdir(parents=True, exist_ok=True)
        drop_in.write_text(
            f"[Unit]\nRequiresMountsFor={path}\nAssertPathIsMountPoint={path}\n", encoding="utf-8"
        )
    done = run("systemctl", "daemon-reload")
    if not done.ok:
        raise NodeError(path, f"systemd was not reloaded: {done.last_line}; reboot the node")


def _values(mount: Mount, region: str) -> dict[str, str]:
    """The values of the storage's parameters, by what they hold."""
    names = list(mount.parameters.values())
    done = run(
        *("aws", "ssm", "get-parameters", "--region", region, "--output", "json"),
        *("--cli-connect-timeout", "10", "--cli-read-timeout", "20", "--names", *names),
    )
    found = _parameters(done)
    missing = [name for name in names if name not in found]
    if missing:
        raise NotYet(f"no value yet of SSM parameter {' and '.join(missing)}")
    return {what: found[name] for what, name in mount.parameters.items()}


def _parameters(done: Finished) -> dict[str, str]:
    if not done.ok:
        raise NotYet(f"SSM did not answer ({done.last_line})")
    try:
        parameters = json.loads(done.output)["Parameters"]
        return {entry["Name"]: entry["Value"] for entry in parameters if entry["Value"]}
    except (ValueError, KeyError, TypeError):
        raise NotYet("SSM gave no answer that can be read") from None


def _mount(client: StorageClient, source: str, path: str) -> None:
    kind, options = client.file_system_type, client.options
    done = run("mount", "-t", kind, "-o", options, source, path, timeout=300)
    if not done.ok:
        raise NotYet(f"{source} was not mounted ({client.why_not(done)})")


def _let_jobs_write(mount: Path, log: Log) -> None:
    """Let every user write to a file system whose root is as AWS made it: jobs are not root.

    A root with another owner, group or mode is somebody's decision. Nodes that boot together may
    all do this.
    """
    root = mount.stat()
    if (root.st_uid, root.st_gid, stat.S_IMODE(root.st_mode)) != _NEW_ROOT:
        return
    try:
        mount.chmod(0o1777)
    except OSError as error:
        # A squash of root, for instance (FSx for Lustre user guide, "Lustre root squash").
        log(
            f"{mount}: WARNING: only root may write there, and its mode was not changed"
            f" ({error.strerror}); let a client without root squash run chmod 1777 {mount}"
        )
    else:
        log(f"{mount}: every user may write there now (mode 1777)")

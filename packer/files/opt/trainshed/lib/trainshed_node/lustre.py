"""Mounting the cluster's Lustre file system before a job can start on the node."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Callable
from pathlib import Path

from trainshed_node.errors import NodeError
from trainshed_node.lustre_efa import set_up_efa, tell_transport
from trainshed_node.lustre_tuning import set_module_options, tune_client
from trainshed_node.settings import Lustre
from trainshed_node.system import Finished, has_command, run

# What runs jobs; each has a drop-in of the AMI that makes it wait for the first boot.
HELD = ("ecs.service", "kubelet.service", "snap.kubelet-eks.daemon.service")
_PAUSE_SECONDS = 10
# FSx for Lustre user guide, "Mounting automatically"; flock for what locks files.
_OPTIONS = "noatime,flock,_netdev"
# Owner, group and mode of the root of a new file system.
_NEW_ROOT = (0, 0, 0o755)
_RUNTIME_UNITS = Path("/run/systemd/system")

Log = Callable[[str], None]


class NotYet(Exception):
    """Something that may come later."""


def set_up_lustre(lustre: Lustre, region: str, log: Log) -> None:
    """Mount the file system, over EFA if asked, waiting for what is not there yet.

    Compute and storage are deployed side by side: the parameters appear when the file system is
    ready, and its DNS name may lag behind.

    Raises:
        NodeError: it can never be mounted, or was not within `wait_seconds`.
    """
    _hold(lustre.mount)
    if Path(lustre.mount).is_mount():
        log(f"{lustre.mount}: is mounted already")
    else:
        _mount_and_tune(lustre, region, log)
    _let_jobs_write(Path(lustre.mount), log)


def _mount_and_tune(lustre: Lustre, region: str, log: Log) -> None:
    for command, missing in (("aws", "AWS CLI"), ("mount.lustre", "Lustre client")):
        if not has_command(command):
            raise NodeError(lustre.mount, f"this AMI has no {missing}; bake it with one")
    set_module_options()
    if lustre.efa_interfaces:
        set_up_efa(lustre.mount, lustre.efa_interfaces, log)
    Path(lustre.mount).mkdir(parents=True, exist_ok=True)
    _wait_for_mount(lustre, region, log)
    tune_client(lustre.mount, log)
    if lustre.efa_interfaces:
        tell_transport(lustre.mount, log)


def _wait_for_mount(lustre: Lustre, region: str, log: Log) -> None:
    started = time.monotonic()
    while True:
        try:
            source = _source(lustre, region)
            _mount(source, lustre.mount)
        except NotYet as reason:
            waited = time.monotonic() - started
            if waited + _PAUSE_SECONDS > lustre.wait_seconds:
                raise NodeError(
                    lustre.mount,
                    f"not mounted after {waited:.0f} s: {reason}; fix that, then `systemctl "
                    "restart trainshed-first-boot` and start what runs jobs",
                ) from None
            log(f"{lustre.mount}: {reason}; waiting, {waited:.0f} of {lustre.wait_seconds:.0f} s")
            time.sleep(_PAUSE_SECONDS)
        else:
            log(f"{lustre.mount}: mounted {source}")
            return


def _hold(mount: str) -> None:
    """Let nothing that runs jobs start while the file system is not mounted.

    The AMI's own drop-ins wait for this program. These add the mount itself, so that an agent
    that is restarted after an unmount by hand stays down, too. Under /run: gone with the boot.
    """
    for unit in HELD:
        drop_in = _RUNTIME_UNITS / f"{unit}.d" / "trainshed-lustre.conf"
        drop_in.parent.mkdir(parents=True, exist_ok=True)
        drop_in.write_text(
            f"[Unit]\nRequiresMountsFor={mount}\nAssertPathIsMountPoint={mount}\n", encoding="utf-8"
        )
    done = run("systemctl", "daemon-reload")
    if not done.ok:
        raise NodeError(mount, f"systemd was not reloaded: {done.last_line}; reboot the node")


def _source(lustre: Lustre, region: str) -> str:
    """What to mount, from the two parameters."""
    names = (lustre.dns_name_parameter, lustre.mount_name_parameter)
    done = run(
        *("aws", "ssm", "get-parameters", "--region", region, "--output", "json"),
        *("--cli-connect-timeout", "10", "--cli-read-timeout", "20", "--names", *names),
    )
    found = _values(done)
    missing = [name for name in names if name not in found]
    if missing:
        raise NotYet(f"no value yet of SSM parameter {' and '.join(missing)}")
    dns_name, mount_name = (found[name] for name in names)
    return f"{dns_name}@tcp:/{mount_name}"


def _values(done: Finished) -> dict[str, str]:
    if not done.ok:
        raise NotYet(f"SSM did not answer ({done.last_line})")
    try:
        parameters = json.loads(done.output)["Parameters"]
        return {entry["Name"]: entry["Value"] for entry in parameters if entry["Value"]}
    except (ValueError, KeyError, TypeError):
        raise NotYet("SSM gave no answer that can be read") from None


def _mount(source: str, mount: str) -> None:
    done = run("mount", "-t", "lustre", "-o", _OPTIONS, source, mount, timeout=300)
    if not done.ok:
        raise NotYet(f"{source} was not mounted ({done.last_line})")


def _let_jobs_write(mount: Path, log: Log) -> None:
    """Let every user write to a file system whose root is as FSx made it: jobs are not root.

    A root with another owner, group or mode is somebody's decision. Nodes that boot together may
    all do this.
    """
    root = mount.stat()
    if (root.st_uid, root.st_gid, stat.S_IMODE(root.st_mode)) != _NEW_ROOT:
        return
    try:
        mount.chmod(0o1777)
    except OSError as error:
        # FSx for Lustre user guide, "Lustre root squash".
        log(
            f"{mount}: WARNING: only root may write there, and its mode was not changed"
            f" ({error.strerror}); let a client without root squash run chmod 1777 {mount}"
        )
    else:
        log(f"{mount}: every user may write there now (mode 1777)")

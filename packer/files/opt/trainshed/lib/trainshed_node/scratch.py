"""Scratch space: the NVMe instance store of the machine, or volumes of EBS made for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from trainshed_node.ebs_volumes import model_of, volumes_named
from trainshed_node.errors import NodeError
from trainshed_node.system import has_command, run
from trainshed_node.write_probe import must_be_writable

SCRATCH = Path("/scratch")
# EC2 user guide, "NVMe instance store volumes": EBS volumes say "Amazon Elastic Block Store".
_MODEL = "Amazon EC2 NVMe Instance Storage"
# Of the file system and of the array; XFS takes 12 characters at most.
_LABEL = "ts-scratch"
_ARRAY = f"/dev/md/{_LABEL}"
# The largest instance stores have 60 TB. Without TRIM a file system on them takes seconds; a slow
# disk must not leave the node without scratch space.
_MKFS_SECONDS = 3600
# Where nodeadm's `localStorage` shows: what it made of its configuration before cloud-init ran,
# files that are merged into that, what it was given, and what its own service gets.
_NODEADM = (
    *("run/eks/nodeadm/config.json", "etc/eks/nodeadm.d/*", "var/lib/cloud/instance/user-data.txt"),
    "etc/systemd/system/setup-local-disks.service.d/*.conf",
)
_NODEADM_STRATEGY = re.compile(r"(?:localStorage\W+strategy\W+|LOCAL_DISK_STRATEGY=)(\w+)", re.I)

Log = Callable[[str], None]


def set_up_scratch(device_names: Sequence[str], log: Log) -> None:
    """Mount the instance store, or volumes of EBS, at `/scratch`, made into one file system.

    A disk that holds anything is left alone, unless it is what this program made before. Safe to
    run at each boot: a reboot keeps the data, a stop and start gives blank disks. On an EKS node
    whose nodeadm is configured to set up the instance store, that is left to it.

    Args:
        device_names: of the volumes, in the launch template; empty for the instance store.
        log: takes what is done.

    Raises:
        NodeError: a disk could not be formatted, assembled or mounted, or not for writing; a volume
            is not there, or holds something else.
    """
    if SCRATCH.is_mount():
        log(f"{SCRATCH}: is mounted already")
        must_be_writable(SCRATCH, log)
        return
    disks = volumes_named(device_names) if device_names else _free_instance_store(log)
    device = _found_again(disks, log) or _made(disks, log, all_of_them=bool(device_names))
    if device:
        _mount(device, log)
        log(f"{SCRATCH}: mounted {device}")


def _free_instance_store(log: Log) -> list[Path]:
    """Whole disks of the instance store that nobody else sets up, by their place in /sys."""
    disks = [
        block for block in sorted(Path("/sys/block").glob("nvme*")) if model_of(block) == _MODEL
    ]
    if not disks:
        log(f"{SCRATCH}: this machine has no NVMe instance store")
    elif claim := _claim_of_nodeadm():
        log(f"{SCRATCH}: the disks are nodeadm's (localStorage: {claim}); left alone")
        return []
    return disks


def _claim_of_nodeadm() -> str | None:
    """The strategy by which nodeadm is going to set up the instance store, if it is."""
    for pattern in _NODEADM:
        for path in sorted(Path("/").glob(pattern)):
            found = _NODEADM_STRATEGY.search(path.read_text(encoding="utf-8", errors="replace"))
            if found:
                return found[1]
    return None


def _found_again(disks: list[Path], log: Log) -> str | None:
    """The file system that an earlier boot made, if it is still there."""
    for block in disks:
        signature = _signature(f"/dev/{block.name}")
        if signature.get("TYPE") == "linux_raid_member" and _is_ours(signature):
            return _assembled([disk for disk in disks if _is_member(disk)], log)
        if "TYPE" in signature and signature.get("LABEL") == _LABEL:
            return f"/dev/{block.name}"
    return None


def _is_member(block: Path) -> bool:
    signature = _signature(f"/dev/{block.name}")
    return signature.get("TYPE") == "linux_raid_member" and _is_ours(signature)


def _is_ours(signature: dict[str, str]) -> bool:
    # mdadm calls an array HOST:NAME.
    return signature.get("LABEL", "").rpartition(":")[2] == _LABEL


def _assembled(members: list[Path], log: Log) -> str:
    holders = [holder.name for holder in (members[0] / "holders").glob("md*")]
    if holders:
        # udev was first.
        return f"/dev/{holders[0]}"
    log(f"{SCRATCH}: assembling {_names(members)} again")
    _must("mdadm", "--assemble", "--run", _ARRAY, *(f"/dev/{block.name}" for block in members))
    return _ARRAY


def _made(disks: list[Path], log: Log, *, all_of_them: bool) -> str | None:
    """A new file system over all blank disks, which all must be where a node was given volumes."""
    blank = []
    for block in disks:
        reason = _in_use(block)
        if reason and all_of_them:
            raise NodeError(f"/dev/{block.name}", f"{reason}; scratch space needs blank volumes")
        if reason:
            log(f"{SCRATCH}: left /dev/{block.name} alone: it {reason}")
        else:
            blank.append(block)
    if not blank:
        if disks:
            log(f"{SCRATCH}: no blank disk; nothing to assemble")
        return None
    device = f"/dev/{blank[0].name}"
    if len(blank) > 1:
        log(f"{SCRATCH}: making one array of {_names(blank)}")
        device = _ARRAY
        _must(
            *("mdadm", "--create", _ARRAY, "--run", "--level=0", f"--raid-devices={len(blank)}"),
            *(f"--name={_LABEL}", "--homehost=any"),
            *(f"/dev/{block.name}" for block in blank),
        )
    # Neither formats over what it recognises: not forced, and no terminal to ask. No TRIM: the
    # disks of a new instance are blank, and discarding terabytes takes minutes.
    maker = ("mkfs.xfs", "-K") if has_command("mkfs.xfs") else ("mkfs.ext4", "-E", "nodiscard")
    log(f"{SCRATCH}: formatting {device} ({maker[0]})")
    _must(*maker, "-q", "-L", _LABEL, device)
    return device


def _in_use(block: Path) -> str | None:
    """Why a disk is not blank; None when it is."""
    if any(block.glob(f"{block.name}p*")):
        return "has partitions"
    if any((block / "holders").glob("*")):
        return "is part of another device"
    signature = _signature(f"/dev/{block.name}")
    if signature:
        return f"holds {signature.get('TYPE') or signature.get('PTTYPE') or 'something'}"
    return None


def _signature(device: str) -> dict[str, str]:
    """What a device holds, by low-level probing; empty when it is blank.

    Raises:
        NodeError: that is not known; then it must not be taken for blank.
    """
    try:
        with Path(device).open("rb") as disk:
            disk.read(4096)
    except OSError as error:
        # To blkid, a disk that cannot be read is one without a signature.
        raise NodeError(
            device, f"cannot be read ({error.strerror}); see the kernel's log"
        ) from None
    done = run("blkid", "--probe", "--output", "export", device)
    if done.code == 8:
        return {"TYPE": "signatures that contradict each other"}
    if done.code not in (0, 2):
        raise NodeError(device, f"cannot be probed ({done.last_line}); look at it with wipefs")
    pairs = (line.partition("=") for line in done.output.splitlines() if "=" in line)
    return {key: value for key, _, value in pairs}


def _mount(device: str, log: Log) -> None:
    SCRATCH.mkdir(exist_ok=True)
    _must("mount", "-o", "noatime", device, str(SCRATCH))
    must_be_writable(SCRATCH, log)
    SCRATCH.chmod(0o1777)


def _must(*command: str) -> None:
    done = run(*command, timeout=_MKFS_SECONDS)
    if not done.ok:
        raise NodeError(
            str(SCRATCH), f"{' '.join(command)} failed: {done.last_line}; look at the disks"
        )


def _names(blocks: list[Path]) -> str:
    return ", ".join(block.name for block in blocks)

"""Shared storage of every kind at the boot of a node, and what is the same for all of it.

The real program runs in a root of its own. This kernel knows neither NFS nor Lustre, so mount(8)
mounts a memory file system in their place: what is proven is what the program asks of it, and what
it does before and after.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
import skips
from node_root import NodeRoot, needs_namespaces

pytestmark = needs_namespaces

FIRST_BOOT = "/opt/trainshed/first-boot"
VALUES = {
    "/trainshed/efs/train/file-system-id": "fs-0123456789abcdef0",
    "/trainshed/lustre/train/dns-name": "fs-1.fsx.us-west-2.amazonaws.com",
    "/trainshed/lustre/train/mount-name": "abcdefgh",
    "/trainshed/openzfs/train/dns-name": "fs-2.fsx.us-west-2.amazonaws.com",
    "/trainshed/openzfs/train/volume-path": "/fsx/home",
    "/trainshed/bucket/train/bucket-name": "train-data",
    "/trainshed/bucket/train/prefix": "corpus/2026/",
}
LUSTRE = {
    "mount": "/fsx",
    "dns_name_parameter": "/trainshed/lustre/train/dns-name",
    "mount_name_parameter": "/trainshed/lustre/train/mount-name",
}
EFS = {"mount": "/home", "file_system_id_parameter": "/trainshed/efs/train/file-system-id"}
OPENZFS = {
    "mount": "/home",
    "dns_name_parameter": "/trainshed/openzfs/train/dns-name",
    "volume_path_parameter": "/trainshed/openzfs/train/volume-path",
}
BUCKET = {"mount": "/data", "bucket_name_parameter": "/trainshed/bucket/train/bucket-name"}
# As mount(8) of the stand-in: the last word is the mount point.
MOUNT = """echo "mount $*" >>/run/calls
for path; do :; done
case $2 in lustre|efs|nfs|mount-s3) exec /usr/bin/mount -t tmpfs -o mode=0755%s none "$path" ;; esac
exec /usr/bin/mount "$@"
"""
# A file system of FUSE whose process has ended, as Mountpoint's may.
FUSE_WITHOUT_PROCESS = """import ctypes, os, sys
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0"
sys.exit(ctypes.CDLL(None).mount(b"none", sys.argv[1].encode(), b"fuse", 0, options.encode()))
"""
MOUNTPOINT_FAILS = """Error: Failed to create FUSE session

Caused by:
    0: initial ListObjectsV2 failed for bucket train-data
    1: Forbidden: Access Denied
Error: Failed to create mount process
"""
USERS = """root:x:0:0:root:/root:/bin/bash
ec2-user:x:1000:1000::/home/ec2-user:/bin/bash
nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin
"""


@pytest.fixture
def machine(tmp_path: Path) -> NodeRoot:
    """A machine with the clients of every kind of storage, and one user."""
    made = NodeRoot.make(tmp_path)
    parameters = [{"Name": name, "Value": value} for name, value in VALUES.items()]
    made.command("systemctl", "")
    made.command("aws", f"cat <<'EOF'\n{json.dumps({'Parameters': parameters})}\nEOF\n")
    for client in ("mount.lustre", "mount.efs", "mount.nfs", "mount.mount-s3"):
        made.command(client, "")
    made.command("mount", MOUNT % "")
    # Users of other numbers are root's alone to make folders for.
    made.write("etc/passwd", USERS if os.geteuid() == 0 else USERS.splitlines()[0] + "\n")
    made.write("etc/skel/.bashrc", "umask 022\n")
    return made


def boot(
    machine: NodeRoot,
    storage: Mapping[str, object],
    then: str = "true",
    times: int = 1,
) -> tuple[int, str, str, list[str]]:
    """Boot with some storage; return the exit code, what was said, and the calls of mount(8)."""
    document = {"region": "us-west-2", "scratch": False, **storage}
    machine.write("etc/trainshed/first-boot.json", json.dumps(document))
    calls = machine.path / "run/calls"
    calls.write_text("")
    done = machine.shell(f"{'; '.join([FIRST_BOOT] * times)} && {{ {then}; }}")
    return done.returncode, done.stdout, done.stderr, calls.read_text().splitlines()


def test_efs_is_mounted_through_tls_by_its_id(machine: NodeRoot) -> None:
    code, _, error, calls = boot(machine, {"efs": EFS})

    assert code == 0, error
    assert calls == ["mount -t efs -o tls,noatime,_netdev fs-0123456789abcdef0:/ /home"]


def test_a_volume_of_openzfs_is_mounted_over_several_connections(machine: NodeRoot) -> None:
    code, _, error, calls = boot(machine, {"openzfs": OPENZFS})

    assert code == 0, error
    assert calls == [
        "mount -t nfs -o nfsvers=4.2,nconnect=16,rsize=1048576,wsize=1048576,timeo=600,noatime,"
        "_netdev fs-2.fsx.us-west-2.amazonaws.com:/fsx/home /home"
    ]


@pytest.mark.parametrize(
    ("more", "source"),
    [
        ({}, "s3://train-data/"),
        (
            {"prefix_parameter": "/trainshed/bucket/train/prefix"},
            "s3://train-data/corpus/2026/",
        ),
    ],
)
def test_a_bucket_is_mounted_to_be_read_by_every_user(
    machine: NodeRoot, more: dict[str, str], source: str
) -> None:
    machine.command("mount", MOUNT % ",ro")

    code, said, error, calls = boot(machine, {"bucket": {**BUCKET, **more}})

    assert code == 0, error
    assert calls == [f"mount -t mount-s3 -o _netdev,nosuid,nodev,ro,allow-other {source} /data"]
    assert "WARNING" not in said


def test_a_bucket_that_is_not_mounted_fails_the_boot_with_the_causes(machine: NodeRoot) -> None:
    # Mountpoint's process and the one that started it, each with an error of its own.
    machine.command("mount", f"cat <<'EOF' >&2\n{MOUNTPOINT_FAILS}EOF\nexit 1\n")

    code, _, error, _ = boot(machine, {"bucket": {**BUCKET, "wait_seconds": 0}})

    assert code == 1
    assert error.startswith(
        "trainshed: ERROR: /data: not mounted after 0 s: s3://train-data/ was not mounted "
        "(Error: Failed to create FUSE session Caused by: 0: initial ListObjectsV2 failed for "
        "bucket train-data 1: Forbidden: Access Denied Error: Failed to create mount process); "
    )


def test_a_bucket_whose_process_has_ended_fails_each_boot(machine: NodeRoot) -> None:
    skips.unless(root="another user may not use /dev/fuse with mount(2)")
    machine.write("run/fuse.py", FUSE_WITHOUT_PROCESS)
    machine.command("mount", "exec /usr/bin/python3 /run/fuse.py /data\n")

    code, _, error, _ = boot(machine, {"bucket": BUCKET}, times=2)

    gone = "(Transport endpoint is not connected)"
    assert code == 1
    first, second = error.splitlines()
    assert first.startswith(f"trainshed: ERROR: /data: cannot be read {gone}; ")
    assert second.startswith(f"trainshed: ERROR: /data: is mounted and does not answer {gone}; ")


def test_every_kind_is_mounted_and_holds_what_runs_jobs(machine: NodeRoot) -> None:
    openzfs = {**OPENZFS, "mount": "/zfs"}

    code, _, error, calls = boot(
        machine, {"bucket": BUCKET, "efs": EFS, "lustre": LUSTRE, "openzfs": openzfs}
    )

    assert code == 0, error
    assert [call.split()[2] for call in calls] == ["lustre", "efs", "nfs", "mount-s3"]
    for kind, path in (
        ("lustre", "/fsx"),
        ("efs", "/home"),
        ("openzfs", "/zfs"),
        ("bucket", "/data"),
    ):
        drop_in = machine.path / f"run/systemd/system/kubelet.service.d/trainshed-{kind}.conf"
        assert f"AssertPathIsMountPoint={path}\n" in drop_in.read_text()


def test_users_find_a_home_folder_on_storage_that_is_mounted_there(machine: NodeRoot) -> None:
    skips.unless(root="a user namespace has no other users")

    code, said, error, _ = boot(
        machine, {"efs": EFS}, "stat -c '%n %u:%g %a' /home/* /home/*/.bashrc"
    )

    assert code == 0, error
    assert "trainshed: /home/ec2-user: made for ec2-user\n" in said
    assert said.splitlines()[-2:] == [
        "/home/ec2-user 1000:1000 700",
        "/home/ec2-user/.bashrc 1000:1000 644",
    ]


def test_a_home_folder_that_cannot_be_made_fails_the_boot_in_one_line(machine: NodeRoot) -> None:
    skips.unless(root="a user namespace sets no attributes of files")
    memory = "mount -t tmpfs -o mode=0755 none /home && exec chattr +i /home"
    machine.command("mount", f'[ "$2" != efs ] || {{ /usr/bin/{memory}; }}\n')

    code, _, error, _ = boot(machine, {"efs": EFS})

    assert code == 1
    assert error == (
        "trainshed: ERROR: /home/ec2-user: was not made (Operation not permitted); export the file "
        "system with no_root_squash, or make it by hand for user 1000\n"
    )


def test_a_home_folder_that_is_there_stays_as_it_is(machine: NodeRoot) -> None:
    before = "mkdir -m 711 /home/ec2-user"
    machine.command(
        "mount", f"{MOUNT.replace('exec ', '', 1) % ''}".replace(";;", f"&& {before}; exit ;;")
    )

    code, said, error, _ = boot(machine, {"efs": EFS}, "stat -c %a /home/ec2-user")

    assert code == 0, error
    assert "made for" not in said
    assert said.splitlines()[-1] == "711"


@pytest.mark.parametrize(
    ("kind", "storage"), [("efs", EFS), ("lustre", LUSTRE), ("openzfs", OPENZFS)]
)
def test_storage_that_takes_no_writes_fails_the_boot(
    machine: NodeRoot, kind: str, storage: dict[str, str]
) -> None:
    machine.command("mount", MOUNT % ",ro")

    code, _, error, _ = boot(machine, {kind: storage})

    assert code == 1
    assert error.endswith(
        f"{storage['mount']}: cannot be written (Read-only file system); see the kernel's log\n"
    )


def test_full_storage_is_said_and_jobs_may_start(machine: NodeRoot) -> None:
    # One page, which the root folder's own entry leaves none of for a file.
    machine.command("mount", MOUNT % ",nr_inodes=1")

    code, said, error, _ = boot(machine, {"efs": {**EFS, "mount": "/efs"}})

    assert code == 0, error
    assert "/efs: WARNING: no file was written there (No space left on device)\n" in said


def test_an_ami_without_efs_utils_fails_at_once(machine: NodeRoot) -> None:
    Path(f"{machine.path}.local", "bin", "mount.efs").unlink()

    code, _, error, calls = boot(machine, {"efs": EFS})

    assert code == 1
    assert error == "trainshed: ERROR: /home: this AMI has no amazon-efs-utils; bake it with one\n"
    assert calls == []

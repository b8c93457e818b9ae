"""Shared storage over the real NFS, in a virtual machine whose kernel has it.

FSx for OpenZFS is mounted as it is on a node. Debian has no efs-utils: in its place the options
that it adds, without TLS. The AWS CLI and systemctl are stand-ins; the client, the machine's own
server and what the program does with them are real. A boot takes seconds of a processor, so that
all tests look at the same one.
"""

import json

import nfs_machine
import pytest
from kernel_machine import KernelMachine

# EFS user guide, "Recommended NFS mount options": what the helper adds.
EFS_OPTIONS = "nfsvers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,noresvport"
STAND_INS = {
    "/usr/bin/systemctl": "#!/bin/sh\n",
    # Which export it is, is what the parameter holds.
    "/usr/bin/aws": "#!/bin/sh\ncat /run/answer\n",
    "/usr/sbin/mount.efs": f"""#!/bin/sh
echo "mount.efs $*" >>/run/calls
options={EFS_OPTIONS}
IFS=,
for each in $4; do
  case $each in tls|_netdev) ;; *) options=$options,$each ;; esac
done
exec mount.nfs4 "127.0.0.1:/${{1%:/}}" "$2" -o "$options"
""",
}


def boot(name: str, kind: str, parameters: dict[str, str]) -> str:
    """Shell commands that boot a node with storage at /data, and tell what it did.

    Args:
        name: of the boot.
        kind: of storage.
        parameters: values of its parameters by what they hold.
    """
    names = {f"{what}_parameter": f"/trainshed/{kind}/train/{what}" for what in parameters}
    settings = {"region": "us-west-2", kind: {"mount": "/data", "wait_seconds": 0, **names}}
    answer = {
        "Parameters": [
            {"Name": each, "Value": value}
            for each, value in zip(names.values(), parameters.values(), strict=True)
        ]
    }
    return f"""
echo 'begin {name}'
mkdir -p /etc/trainshed
echo '{json.dumps(settings)}' >/etc/trainshed/first-boot.json
echo '{json.dumps(answer)}' >/run/answer
/opt/trainshed/first-boot
echo "code $?"
findmnt -n --notruncate -o FSTYPE,OPTIONS /data
echo "mode $(stat -c %a /data)"
"""


def boot_with_efs(name: str) -> str:
    """The same with an export in place of a file system of EFS."""
    return boot(name, "efs", {"file_system_id": name})


@pytest.fixture(scope="module")
def boots(kernel_machine: KernelMachine) -> dict[str, str]:
    """What nodes say, by the name of the export that they mount."""
    exports = {
        "new": "rw,no_root_squash",
        "squashed": "rw,root_squash",
        "readonly": "ro,no_root_squash",
        "volume": "rw,no_root_squash",
    }
    again = "echo 'begin again'; /opt/trainshed/first-boot; echo \"code $?\"; umount /data\n"
    script = nfs_machine.serve(exports) + boot_with_efs("new") + again
    for name in ("squashed", "readonly"):
        script += boot_with_efs(name) + "umount /data\n"
    volume = {"dns_name": "127.0.0.1", "volume_path": "/volume"}
    script += boot("volume", "openzfs", volume) + "umount /data\n"
    ran = kernel_machine.boot(
        script + boot_with_efs("missing") + "echo begin calls; cat /run/calls\n",
        files={**nfs_machine.FILES, **STAND_INS},
        programs=(*nfs_machine.PROGRAMS, "mount.nfs"),
        modules=nfs_machine.MODULES,
    )
    said = [part.partition("\n") for part in ran.output.split("begin ")]
    return {name: text for name, _, text in said}


def test_a_new_file_system_is_mounted_and_every_user_may_write(boots: dict[str, str]) -> None:
    said = boots["new"]

    assert "trainshed: /data: mounted new:/" in said
    assert "every user may write there now (mode 1777)" in said
    assert "\ncode 0\nnfs4 " in said
    for option in ("noatime", "vers=4.1", "rsize=1048576", "hard"):
        assert option in said
    assert "\nmode 1777\n" in said


def test_a_second_run_leaves_the_mount(boots: dict[str, str]) -> None:
    assert "/data: is mounted already" in boots["again"]
    assert "\ncode 0\n" in boots["again"]


def test_a_node_boots_where_the_server_squashes_root(boots: dict[str, str]) -> None:
    said = boots["squashed"]

    assert "WARNING: only root may write there, and its mode was not changed" in said
    assert "/data: WARNING: no file was written there (Permission denied)" in said
    assert "\ncode 0\n" in said
    assert "\nmode 755\n" in said


def test_a_file_system_that_takes_no_writes_fails_the_boot(boots: dict[str, str]) -> None:
    assert "/data: cannot be written (Read-only file system)" in boots["readonly"]
    assert "\ncode 1\n" in boots["readonly"]


def test_a_file_system_that_is_not_there_fails_the_boot_with_the_words_of_nfs(
    boots: dict[str, str],
) -> None:
    assert (
        "missing:/ was not mounted (mount.nfs4: mounting 127.0.0.1:/missing failed"
        in (boots["missing"])
    )
    assert "\ncode 1\n" in boots["missing"]


def test_a_volume_of_openzfs_is_mounted_over_several_connections(boots: dict[str, str]) -> None:
    said = boots["volume"]

    assert "trainshed: /data: mounted 127.0.0.1:/volume" in said
    assert "\ncode 0\nnfs4 " in said
    for option in ("vers=4.2", "nconnect=16", "rsize=1048576", "noatime", "hard"):
        assert option in said
    assert "\nmode 1777\n" in said


def test_the_helper_of_efs_gets_what_its_guide_says(boots: dict[str, str]) -> None:
    assert boots["calls"].startswith("mount.efs new:/ /data -o ")
    assert "tls" in boots["calls"].splitlines()[0]

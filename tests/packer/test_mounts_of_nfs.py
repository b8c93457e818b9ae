"""Shared storage over the real NFS, in a virtual machine whose kernel has it.

Debian has no efs-utils: in its place the options that it adds, without TLS, to the machine's own
server. So are the AWS CLI and systemctl stand-ins; the client, the server and what the program does
with them are real. A boot takes seconds of a processor, so that all tests look at the same one.
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
PARAMETER = "/trainshed/efs/train/file-system-id"


def boot(name: str) -> str:
    """Shell commands that boot a node with an export at /data, and tell what it did."""
    settings = {
        "region": "us-west-2",
        "efs": {"mount": "/data", "file_system_id_parameter": PARAMETER, "wait_seconds": 0},
    }
    answer = {"Parameters": [{"Name": PARAMETER, "Value": name}]}
    return f"""
echo 'begin {name}'
mkdir -p /etc/trainshed
echo '{json.dumps(settings)}' >/etc/trainshed/first-boot.json
echo '{json.dumps(answer)}' >/run/answer
/opt/trainshed/first-boot
echo "code $?"
findmnt -n -o FSTYPE,OPTIONS /data
echo "mode $(stat -c %a /data)"
"""


@pytest.fixture(scope="module")
def boots(kernel_machine: KernelMachine) -> dict[str, str]:
    """What nodes say, by the name of the export that they mount."""
    exports = {
        "new": "rw,no_root_squash",
        "squashed": "rw,root_squash",
        "readonly": "ro,no_root_squash",
    }
    again = "echo 'begin again'; /opt/trainshed/first-boot; echo \"code $?\"; umount /data\n"
    script = nfs_machine.serve(exports) + boot("new") + again
    for name in ("squashed", "readonly"):
        script += boot(name) + "umount /data\n"
    ran = kernel_machine.boot(
        script + boot("missing") + "echo begin calls; cat /run/calls\n",
        files={**nfs_machine.FILES, **STAND_INS},
        programs=nfs_machine.PROGRAMS,
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


def test_the_helper_of_efs_gets_what_its_guide_says(boots: dict[str, str]) -> None:
    assert boots["calls"].startswith("mount.efs new:/ /data -o ")
    assert "tls" in boots["calls"].splitlines()[0]

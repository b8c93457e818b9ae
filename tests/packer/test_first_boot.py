"""What a node does when it boots: scratch space and the Lustre mount.

The real program runs in a root of its own. Its NVMe disks are loop devices under another name, with
a /sys of folders, because no machine here has the model name of EC2's: probing, formatting and
mounting are real. This kernel has no md, so mdadm is a stand-in; so are the AWS CLI, systemctl and
mount.lustre. Guests run the program under systemd with the real AWS CLI.
"""

import json
import os
import re
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import skips
from node_root import NodeRoot, needs_namespaces

pytestmark = needs_namespaces

MODEL = "Amazon EC2 NVMe Instance Storage"
EBS = "Amazon Elastic Block Store"
DNS, NAME = "/trainshed/lustre/train/dns-name", "/trainshed/lustre/train/mount-name"
SOURCE = "fs-1.fsx.us-west-2.amazonaws.com@tcp:/abcdefgh"
LUSTRE = {"mount": "/fsx", "dns_name_parameter": DNS, "mount_name_parameter": NAME}
ANSWER = {
    "Parameters": [
        {"Name": NAME, "Value": "abcdefgh"},
        {"Name": DNS, "Value": "fs-1.fsx.us-west-2.amazonaws.com"},
    ]
}
# What it was called with, for each stand-in.
CALLED = 'echo "${0##*/} $*" >>/run/calls\n'
BOOT = "/opt/trainshed/first-boot; code=$?; cat /proc/mounts >/run/mounts; exit $code"
SIZE = 320 * 1024 * 1024


@dataclass(frozen=True)
class Boot:
    """One run of the program at the boot of a machine.

    Attributes:
        code: its exit code.
        lines: what it said.
        error: what it said went wrong.
        mounts: kind and options of the file system at each mount point afterwards.
        calls: of the stand-ins.
    """

    code: int
    lines: list[str]
    error: str
    mounts: dict[str, tuple[str, str]]
    calls: list[str]


class Machine(NodeRoot):
    """A machine with or without disks."""

    def configure(self, document: object) -> None:
        """Write what user data writes."""
        self.write("etc/trainshed/first-boot.json", json.dumps(document))

    def boot(self) -> Boot:
        """Run the program; what it mounts is gone afterwards, what it wrote is not."""
        (self.path / "run" / "calls").write_text("")
        done = self.shell(BOOT)
        rows = [line.split() for line in (self.path / "run" / "mounts").read_text().splitlines()]
        return Boot(
            code=done.returncode,
            lines=done.stdout.splitlines(),
            error=done.stderr.strip(),
            mounts={row[1]: (row[2], row[3]) for row in rows},
            calls=(self.path / "run" / "calls").read_text().splitlines(),
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without an instance store, whose Lustre client mounts a memory file system."""
    made = Machine.make(tmp_path)
    (made.path / "fsx").mkdir()
    made.command("systemctl", CALLED)
    made.command("aws", f"{CALLED}cat <<'EOF'\n{json.dumps(ANSWER)}\nEOF")
    made.command("mount.lustre", "")
    made.command("mount", f"{CALLED}{lustre_client()}")
    return made


def lustre_client(options: str = "mode=0755") -> str:
    """A mount(8) whose lustre is in memory: the kernel has none.

    Its root is as that of a new file system of FSx, which root alone may write to: public boot
    scripts chmod it after the mount.
    """
    memory = f'[ "$2" != lustre ] || set -- -t tmpfs -o {options} none /fsx'
    return f'{memory}\nexec /usr/bin/mount "$@"'


def lustre(**changes: Any) -> dict[str, Any]:
    return {"region": "us-west-2", "lustre": {**LUSTRE, **changes}}


def test_a_machine_without_a_configuration_mounts_nothing(machine: Machine) -> None:
    boot = machine.boot()

    assert boot.code == 0
    assert boot.lines[:-1] == [
        "trainshed: /scratch: this machine has no NVMe instance store",
        "trainshed: /etc/trainshed/first-boot.json names no file system to mount",
    ]
    assert boot.calls == []


def test_lustre_is_mounted_where_the_parameters_say(machine: Machine) -> None:
    machine.configure(lustre())

    boot = machine.boot()

    assert boot.code == 0, boot.error
    assert f"mount -t lustre -o noatime,flock,_netdev {SOURCE} /fsx" in boot.calls
    assert f"trainshed: /fsx: mounted {SOURCE}" in boot.lines
    assert "/fsx" in boot.mounts
    [asked] = [call for call in boot.calls if call.startswith("aws ")]
    assert "--region us-west-2" in asked
    assert f"--names {DNS} {NAME}" in asked


WHO_MAY = "/opt/trainshed/first-boot && stat --format '%u:%g %a' /fsx"


def test_every_user_may_write_to_a_new_file_system(machine: Machine) -> None:
    machine.configure(lustre())

    done = machine.shell(WHO_MAY)

    assert done.returncode == 0, done.stderr
    assert "trainshed: /fsx: every user may write there now (mode 1777)\n" in done.stdout
    assert done.stdout.endswith("\n0:0 1777\n")


def test_every_user_may_write_to_a_new_file_system_that_was_mounted_by_hand(
    machine: Machine,
) -> None:
    machine.configure(lustre())

    done = machine.shell(f"mount -t lustre {SOURCE} /fsx && {WHO_MAY}")

    assert done.stdout.endswith("\n0:0 1777\n"), done.stderr


@pytest.mark.parametrize(
    ("options", "who"),
    [
        ("mode=0750", "0:0 750"),
        ("mode=0775", "0:0 775"),
        ("mode=1777", "0:0 1777"),
    ],
)
def test_a_mode_that_somebody_gave_the_file_system_stays(
    machine: Machine, options: str, who: str
) -> None:
    machine.configure(lustre())
    machine.command("mount", lustre_client(options))

    done = machine.shell(WHO_MAY)

    assert done.stdout.endswith(f"\n{who}\n"), done.stderr


@pytest.mark.parametrize("owner", ["uid=2000", "gid=2000"])
def test_an_owner_whom_somebody_gave_the_file_system_keeps_it(machine: Machine, owner: str) -> None:
    skips.unless(root="a user namespace has no other users")
    machine.configure(lustre())
    machine.command("mount", lustre_client(f"mode=0755,{owner}"))

    done = machine.shell(WHO_MAY)

    assert done.stdout.endswith(" 755\n"), done.stderr


def test_a_boot_goes_on_where_the_mode_cannot_be_changed(machine: Machine) -> None:
    skips.unless(root="a user namespace sets no attributes of files")
    machine.configure(lustre())
    # Root squash refuses it in the same words, and writes, too.
    memory = "mount -t tmpfs -o mode=0755 none /fsx && exec chattr +i /fsx"
    machine.command("mount", f'[ "$2" != lustre ] || {{ /usr/bin/{memory}; }}\n')

    boot = machine.boot()

    assert boot.code == 0, boot.error
    assert [line for line in boot.lines if "WARNING" in line] == [
        "trainshed: /fsx: WARNING: only root may write there, and its mode was not changed"
        " (Operation not permitted); let a client without root squash run chmod 1777 /fsx",
        "trainshed: /fsx: WARNING: no file was written there (Operation not permitted)",
    ]


def test_what_runs_jobs_is_held_before_anything_else(machine: Machine) -> None:
    machine.configure(lustre())

    boot = machine.boot()

    assert boot.calls[0] == "systemctl daemon-reload"
    for unit in ("ecs", "kubelet", "snap.kubelet-eks.daemon"):
        drop_in = machine.path / f"run/systemd/system/{unit}.service.d/trainshed-lustre.conf"
        assert (
            drop_in.read_text() == "[Unit]\nRequiresMountsFor=/fsx\nAssertPathIsMountPoint=/fsx\n"
        )


def test_a_second_boot_mounts_again_and_leaves_nothing_behind(machine: Machine) -> None:
    machine.configure(lustre())
    machine.boot()

    boot = machine.boot()

    assert boot.code == 0, boot.error
    assert "/fsx" in boot.mounts
    assert not (machine.path / "etc" / "fstab").exists()


def test_a_second_run_at_one_boot_changes_nothing(machine: Machine) -> None:
    machine.configure(lustre())

    done = machine.shell(
        "/opt/trainshed/first-boot && /opt/trainshed/first-boot && grep -c ' /fsx ' /proc/mounts"
    )

    assert done.returncode == 0, done.stderr
    *_, mounted, _, count = done.stdout.splitlines()
    assert (mounted, count) == ("trainshed: /fsx: is mounted already", "1")


@pytest.mark.parametrize(
    ("name", "script", "reason"),
    [
        ("aws", "echo '{\"Parameters\": []}'", f"no value yet of SSM parameter {DNS} and {NAME}"),
        (
            "aws",
            f"""echo '{{"Parameters": [{{"Name": "{DNS}", "Value": ""}}]}}'""",
            f"no value yet of SSM parameter {DNS} and {NAME}",
        ),
        ("aws", "echo AccessDenied >&2; exit 254", "SSM did not answer (AccessDenied)"),
        ("aws", "echo no json", "SSM gave no answer that can be read"),
        (
            "mount",
            "echo 'mount.lustre: mount failed: No such file' >&2; exit 2",
            f"{SOURCE} was not mounted (mount.lustre: mount failed: No such file)",
        ),
    ],
)
def test_what_never_comes_ends_the_wait_with_its_reason(
    machine: Machine, name: str, script: str, reason: str
) -> None:
    machine.configure(lustre(wait_seconds=0))
    machine.command(name, script)

    boot = machine.boot()

    assert boot.code == 1
    assert boot.error.startswith(f"trainshed: ERROR: /fsx: not mounted after 0 s: {reason};")
    assert "systemctl restart trainshed-first-boot" in boot.error


def test_a_machine_waits_for_parameters_that_come_later_and_says_how_long(
    machine: Machine,
) -> None:
    machine.configure(lustre(wait_seconds=60))
    first = "[ -e /run/asked ] || { touch /run/asked; echo '{\"Parameters\": []}'; exit 0; }"
    machine.command("aws", f"{first}\ncat <<'EOF'\n{json.dumps(ANSWER)}\nEOF")

    boot = machine.boot()

    assert boot.code == 0, boot.error
    waiting = f"trainshed: /fsx: no value yet of SSM parameter {DNS} and {NAME}; waiting, 0 of 60 s"
    assert boot.lines[1:3] == [waiting, f"trainshed: /fsx: mounted {SOURCE}"]


def test_a_machine_waits_for_a_dns_name_that_nobody_knows_yet(machine: Machine) -> None:
    machine.configure(lustre(wait_seconds=60))
    # mount.lustre's words for a name that does not resolve.
    unknown = "mount.lustre: Can't parse NID 'fs-1.fsx.us-west-2.amazonaws.com@tcp:/abcdefgh'"
    first = f'[ -e /run/tried ] || {{ touch /run/tried; echo "{unknown}" >&2; exit 1; }}'
    machine.command("mount", f'if [ "$2" = lustre ]; then {first}; fi\n{lustre_client()}')

    boot = machine.boot()

    assert boot.code == 0, boot.error
    assert (
        f"trainshed: /fsx: {SOURCE} was not mounted ({unknown}); waiting, 0 of 60 s" in boot.lines
    )
    assert "/fsx" in boot.mounts


def test_an_image_without_a_lustre_client_fails_at_once_and_holds_what_runs_jobs(
    machine: Machine,
) -> None:
    machine.configure(lustre())
    Path(f"{machine.path}.local", "bin", "mount.lustre").unlink()

    boot = machine.boot()

    assert boot.code == 1
    assert boot.error == ("trainshed: ERROR: /fsx: this AMI has no Lustre client; bake it with one")
    assert (machine.path / "run/systemd/system/ecs.service.d/trainshed-lustre.conf").exists()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "is not a JSON object"),
        (
            {"regions": "x"},
            "does not know regions; known are bucket, cluster, devices, efs,",
        ),
        ({"cluster": "", "region": "x"}, "cluster must be a text and is ''"),
        ({"cluster": "Train"}, "region must be a text"),
        ({"devices": 8}, "devices must be an object"),
        ({"devices": {"tpu": 8}}, "devices: does not know tpu; known are efa, habana, neuron, nv"),
        ({"devices": {"efa": "8"}}, "devices: efa must be a whole number, not '8'"),
        ({"scratch": "no"}, "scratch must be true or false, not 'no'"),
        ({"lustre": LUSTRE}, "region must be a text"),
        (lustre(mount="fsx"), "mount must be an absolute path, not 'fsx'"),
        (lustre(mount="/"), "mount must be an absolute path, not '/'"),
        (lustre(wait_seconds="long"), "wait_seconds must be a number, not 'long'"),
        (lustre(efa_interfaces=True), "efa_interfaces must be a whole number, not True"),
        (lustre(efa_interfaces="8"), "efa_interfaces must be a whole number, not '8'"),
        (lustre(dns_name_parameter=""), "dns_name_parameter must be a text"),
    ],
)
def test_settings_that_cannot_be_understood_end_the_boot_of_jobs_with_one_line(
    machine: Machine, document: object, message: str
) -> None:
    machine.configure(document)

    boot = machine.boot()

    assert boot.code == 1
    [line] = boot.error.splitlines()
    assert line.startswith("trainshed: ERROR: /etc/trainshed/first-boot.json")
    assert message in line


# Disks.


def with_disks(machine: Machine, *disks: str, model: str = MODEL) -> Machine:
    """Give a machine these block devices as nvme1n1 and so on."""
    named = {f"nvme{number}n1": disk for number, disk in enumerate(disks, start=1)}
    for name in named:
        machine.write(f"sys/block/{name}/device/model", f"{model}   \n")
    machine.command("mdadm", CALLED)
    return machine.with_disks(named)


def holds(disk: str) -> dict[str, str]:
    done = subprocess.run(
        ["blkid", "--probe", "--output", "export", disk], capture_output=True, text=True
    )
    return dict(re.findall(r"^(\w+)=(.*)$", done.stdout, re.MULTILINE))


def test_a_blank_disk_becomes_scratch_space_for_everybody(
    machine: Machine, disks: list[str]
) -> None:
    machine = with_disks(machine, disks[0])

    boot = machine.boot()

    assert boot.code == 0, boot.error
    assert boot.mounts["/scratch"][0] == "xfs"
    assert "noatime" in boot.mounts["/scratch"][1]
    assert holds(disks[0])["LABEL"] == "ts-scratch"
    done = machine.shell("/opt/trainshed/first-boot >/dev/null; stat -c %a /scratch")
    assert done.stdout == "1777\n"


def test_a_reboot_finds_what_was_written_to_scratch_space(
    machine: Machine, disks: list[str]
) -> None:
    machine = with_disks(machine, disks[0])
    machine.shell("/opt/trainshed/first-boot && echo kept >/scratch/file && umount /scratch")

    done = machine.shell("/opt/trainshed/first-boot && cat /scratch/file")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "kept"
    assert "formatting" not in done.stdout


def test_scratch_space_that_takes_no_writes_fails_the_boot(
    machine: Machine, disks: list[str]
) -> None:
    machine = with_disks(machine, disks[0])
    # As mount(8) does where a disk takes no writes any more.
    machine.command("mount", 'exec /usr/bin/mount -o ro "$@"')

    boot = machine.boot()

    assert boot.code == 1
    assert boot.error == (
        "trainshed: ERROR: /scratch: cannot be written (Read-only file system); "
        "see the kernel's log"
    )


def test_scratch_space_that_became_read_only_fails_a_second_run(machine: Machine) -> None:
    done = machine.shell(
        "mkdir /scratch; mount -t tmpfs -o ro none /scratch; exec /opt/trainshed/first-boot"
    )

    assert done.returncode == 1
    assert "/scratch: cannot be written (Read-only file system)" in done.stderr


def test_blank_disks_after_a_stop_are_set_up_anew(machine: Machine, disks: list[str]) -> None:
    machine = with_disks(machine, disks[0])
    machine.boot()
    subprocess.run(["wipefs", "--all", "--quiet", disks[0]], check=True)

    boot = machine.boot()

    assert boot.code == 0, boot.error
    assert "/scratch" in boot.mounts


def test_without_xfs_it_is_ext4(machine: Machine, disks: list[str]) -> None:
    machine = with_disks(machine, disks[0])
    hide = "mkdir -p /usr/local/sbin; for f in /usr/sbin/*; do"
    hide += ' case $f in *xfs*) ;; *) ln -s "$f" /usr/local/sbin/ ;; esac; done;'

    done = machine.shell(
        f"{hide} PATH=/usr/local/bin:/usr/local/sbin:/usr/bin /opt/trainshed/first-boot"
    )

    assert done.returncode == 0, done.stderr
    assert holds(disks[0])["TYPE"] == "ext4"


@pytest.mark.parametrize("maker", ["mkfs.xfs", "mkfs.ext4"])
def test_a_disk_is_formatted_without_trim(machine: Machine, disks: list[str], maker: str) -> None:
    machine = with_disks(machine, disks[0])
    machine.command(maker, f'{CALLED}exec /usr/sbin/{maker} "$@"')
    hidden = "mkfs.xfs" if maker == "mkfs.ext4" else "nothing"
    hide = "mkdir -p /usr/local/sbin; for f in /usr/sbin/*; do"
    hide += f' case $f in *{hidden}*) ;; *) ln -s "$f" /usr/local/sbin/ ;; esac; done;'

    done = machine.shell(
        f"{hide} PATH=/usr/local/bin:/usr/local/sbin:/usr/bin /opt/trainshed/first-boot"
    )

    assert done.returncode == 0, done.stderr
    (call,) = [
        line
        for line in (machine.path / "run" / "calls").read_text().splitlines()
        if line.startswith(maker)
    ]
    assert {"mkfs.xfs": " -K ", "mkfs.ext4": " -E nodiscard "}[maker] in call


@pytest.mark.parametrize(
    ("place", "content"),
    [
        ("run/eks/nodeadm/config.json", '{"instance":{"localStorage":{"strategy":"RAID0"}}}'),
        (
            "etc/eks/nodeadm.d/disks.yaml",
            "spec:\n  instance:\n    localStorage:\n      strategy: RAID0\n",
        ),
        (
            "var/lib/cloud/instance/user-data.txt",
            "--B\nContent-Type: application/node.eks.aws\n\nkind: NodeConfig\nspec:\n"
            "  instance:\n    localStorage:\n      strategy: RAID0\n--B--\n",
        ),
        (
            "etc/systemd/system/setup-local-disks.service.d/00-strategy.conf",
            "[Service]\nEnvironment=LOCAL_DISK_STRATEGY=RAID0\n",
        ),
    ],
)
def test_disks_that_nodeadm_sets_up_are_left_to_it(
    machine: Machine, disks: list[str], place: str, content: str
) -> None:
    machine = with_disks(machine, disks[0])
    machine.write(place, content)

    boot = machine.boot()

    assert boot.code == 0, boot.error
    words = "trainshed: /scratch: the disks are nodeadm's (localStorage: RAID0); left alone"
    assert words in boot.lines
    assert holds(disks[0]) == {}


def test_disks_that_nodeadm_leaves_alone_become_scratch_space(
    machine: Machine, disks: list[str]
) -> None:
    machine = with_disks(machine, disks[0])
    machine.write("run/eks/nodeadm/config.json", '{"instance":{"localStorage":{}}}')

    boot = machine.boot()

    assert "/scratch" in boot.mounts


def test_a_disk_of_ebs_is_never_touched(machine: Machine, disks: list[str]) -> None:
    machine = with_disks(machine, disks[0], model=EBS)

    boot = machine.boot()

    assert boot.code == 0
    assert "/scratch" not in boot.mounts
    assert holds(disks[0]) == {}


def partition(disk: str) -> None:
    """Write a partition table of one partition: 1 MiB from the first MiB on, for Linux."""
    entry = struct.pack("<8BII", 0, 0, 0, 0, 0x83, 0, 0, 0, 2048, 2048)
    with Path(disk).open("r+b") as file:
        file.write(bytes(446) + entry + bytes(48) + b"\x55\xaa")


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (lambda disk: subprocess.run(["mkfs.ext4", "-q", disk], check=True), "it holds ext4"),
        (lambda disk: subprocess.run(["mkswap", "-q", disk], check=True), "it holds swap"),
        (partition, "it holds dos"),
    ],
    ids=["file-system", "swap", "partition-table"],
)
def test_a_disk_that_holds_something_is_left_alone(
    machine: Machine, disks: list[str], prepare: Callable[[str], object], words: str
) -> None:
    prepare(disks[0])
    before = holds(disks[0])

    boot = with_disks(machine, disks[0]).boot()

    assert boot.code == 0, boot.error
    assert f"trainshed: /scratch: left /dev/nvme1n1 alone: {words}" in boot.lines
    assert "/scratch" not in boot.mounts
    assert holds(disks[0]) == before


@pytest.mark.parametrize(
    ("folder", "words"),
    [("nvme1n1p1", "it has partitions"), ("holders/dm-0", "it is part of another device")],
)
def test_a_disk_that_the_kernel_uses_is_left_alone(
    machine: Machine, disks: list[str], folder: str, words: str
) -> None:
    machine = with_disks(machine, disks[0])
    (machine.path / "sys/block/nvme1n1" / folder).mkdir()

    boot = machine.boot()

    assert f"trainshed: /scratch: left /dev/nvme1n1 alone: {words}" in boot.lines
    assert holds(disks[0]) == {}


def test_a_disk_that_cannot_be_read_is_not_taken_for_blank(machine: Machine) -> None:
    machine = with_disks(machine)
    machine.write("sys/block/nvme1n1/device/model", MODEL)

    boot = machine.boot()

    assert boot.code == 1
    assert boot.error.startswith("trainshed: ERROR: /dev/nvme1n1: cannot be read (No such file")


def test_several_blank_disks_become_one_array(machine: Machine, disks: list[str]) -> None:
    subprocess.run(["mkfs.ext4", "-q", disks[1]], check=True)
    machine = with_disks(machine, *disks)
    # As mdadm does, it makes the device; a whole disk has to do for it.
    machine.command("mdadm", f"{CALLED}mkdir -p /dev/md; ln -s /dev/nvme1n1 /dev/md/ts-scratch")

    boot = machine.boot()

    assert boot.code == 0, boot.error
    assert (
        "mdadm --create /dev/md/ts-scratch --run --level=0 --raid-devices=2 --name=ts-scratch"
        " --homehost=any /dev/nvme1n1 /dev/nvme3n1"
    ) in boot.calls
    assert boot.mounts["/scratch"][0] == "xfs"
    assert holds(disks[1])["TYPE"] == "ext4"


def test_an_array_of_an_earlier_boot_is_assembled_and_not_made_again(
    machine: Machine, disks: list[str]
) -> None:
    machine = with_disks(machine, *disks[:2])
    subprocess.run(["mkfs.xfs", "-q", disks[2]], check=True)
    array = os.stat(disks[2]).st_rdev  # noqa: PTH116
    node = f"b {os.major(array)} {os.minor(array)}"
    machine.command("mdadm", f"{CALLED}mkdir -p /dev/md; mknod /dev/md/ts-scratch {node}")
    # What mdadm writes on members is made by mdadm alone, so probing stands in, too.
    machine.command("blkid", "echo TYPE=linux_raid_member; echo LABEL=any:ts-scratch")

    boot = machine.boot()

    assert boot.code == 0, boot.error
    assert [call for call in boot.calls if call.startswith("mdadm")] == [
        "mdadm --assemble --run /dev/md/ts-scratch /dev/nvme1n1 /dev/nvme2n1"
    ]
    assert "/scratch" in boot.mounts


def test_somebody_else_s_array_is_left_alone(machine: Machine, disks: list[str]) -> None:
    machine = with_disks(machine, *disks[:2])
    machine.command("blkid", "echo TYPE=linux_raid_member; echo LABEL=db1:data")

    boot = machine.boot()

    assert boot.code == 0
    assert "/scratch" not in boot.mounts
    assert [call for call in boot.calls if call.startswith("mdadm")] == []


def test_disks_can_be_left_to_another_owner(machine: Machine, disks: list[str]) -> None:
    machine = with_disks(machine, disks[0])
    machine.configure({"region": "us-west-2", "scratch": False})

    boot = machine.boot()

    assert boot.code == 0
    assert holds(disks[0]) == {}

"""Scratch space of EBS volumes: which disks become it, and which never do.

On Xen: the real program in a root of its own, with loop devices under the kernel's names. Of NVMe
this machine has none of EBS: what one answers is made here, in the form that Amazon's ebsnvme-id
reads.
"""

import ctypes
import json
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from node_root import NodeRoot, needs_namespaces

from trainshed_node import ebs_volumes
from trainshed_node.ebs_volumes import device_name_of, identify, volumes_named
from trainshed_node.errors import NodeError

MODEL = "Amazon Elastic Block Store              "


def machine(folder: Path, disks: Mapping[str, str], *device_names: str) -> NodeRoot:
    """A machine with some disks, whose scratch space some volumes are."""
    made = NodeRoot.make(folder).with_disks(disks)
    made.write("etc/trainshed/first-boot.json", json.dumps({"scratch_devices": device_names}))
    first = f"/dev/{next(iter(disks))}"
    # As mdadm does, it makes the device; a whole disk has to do for it.
    making = f'echo "$*" >/run/mdadm; mkdir -p /dev/md; ln -s {first} /dev/md/ts-scratch'
    made.command("mdadm", making)
    return made


def holds(disk: str) -> str:
    done = subprocess.run(
        ["blkid", "--probe", "--output", "value", "--match-tag", "LABEL", disk],
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@needs_namespaces
@pytest.mark.parametrize("name", ["xvdf", "sdf"])
def test_on_xen_the_volume_of_the_device_name_becomes_scratch_space(
    tmp_path: Path, disks: list[str], name: str
) -> None:
    node = machine(tmp_path, {name: disks[0], "xvda": disks[1], "xvdg": disks[2]}, "/dev/sdf")

    done = node.shell("/opt/trainshed/first-boot; findmnt -n -o SOURCE,FSTYPE /scratch")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split()[1] == "xfs"
    assert [holds(disk) for disk in disks] == ["ts-scratch", "", ""]


@needs_namespaces
def test_a_reboot_finds_the_volume_again(tmp_path: Path, disks: list[str]) -> None:
    node = machine(tmp_path, {"xvdf": disks[0]}, "/dev/sdf")
    node.shell("/opt/trainshed/first-boot && echo kept >/scratch/file && umount /scratch")

    done = node.shell("/opt/trainshed/first-boot && cat /scratch/file")

    assert done.stdout.splitlines()[-1] == "kept", done.stderr


@needs_namespaces
def test_several_volumes_become_one_array(tmp_path: Path, disks: list[str]) -> None:
    named = {"xvdf": disks[0], "xvdg": disks[1], "xvdh": disks[2]}
    node = machine(tmp_path, named, "/dev/sdf", "/dev/sdg")

    done = node.shell("/opt/trainshed/first-boot && cat /run/mdadm")

    assert done.stdout.splitlines()[-1] == (
        "--create /dev/md/ts-scratch --run --level=0 --raid-devices=2 --name=ts-scratch "
        "--homehost=any /dev/xvdf /dev/xvdg"
    ), done.stderr
    assert holds(disks[2]) == ""


@needs_namespaces
def test_a_volume_that_holds_something_fails_the_boot_untouched(
    tmp_path: Path, disks: list[str]
) -> None:
    subprocess.run(["mkfs.ext4", "-q", "-L", "theirs", disks[1]], check=True)
    node = machine(tmp_path, {"xvdf": disks[0], "xvdg": disks[1]}, "/dev/sdf", "/dev/sdg")

    done = node.program("first-boot")

    assert done.returncode == 1
    assert "/dev/xvdg: holds ext4; scratch space needs blank volumes" in done.stderr
    assert [holds(disk) for disk in disks[:2]] == ["", "theirs"]


@needs_namespaces
def test_a_volume_that_is_not_there_fails_the_boot(tmp_path: Path, disks: list[str]) -> None:
    node = machine(tmp_path, {"xvdf": disks[0]}, "/dev/sdf", "/dev/sdg")

    done = node.program("first-boot")

    assert done.returncode == 1
    assert "trainshed: ERROR: /dev/sdg: this machine has no such volume of EBS" in done.stderr
    assert holds(disks[0]) == ""


@needs_namespaces
@pytest.mark.parametrize("names", ["/dev/sdf", ["sdf"], ["/dev/sda1"], [7]])
def test_a_list_of_something_else_is_refused(tmp_path: Path, names: object) -> None:
    node = NodeRoot.make(tmp_path)
    node.write("etc/trainshed/first-boot.json", json.dumps({"scratch_devices": names}))

    done = node.program("first-boot")

    assert done.returncode == 1
    assert "scratch_devices must be a list like [" in done.stderr


# NVMe.


class Disks:
    """NVMe disks that answer the Identify command, in the place of the kernel's.

    Args:
        folder: stands for /sys/block and /dev.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._answers: dict[str, tuple[bytes, bytes]] = {}

    def add(self, name: str, model: str = MODEL, namespace: str = "", controller: str = "") -> Path:
        """Plug a disk that tells a device name in one of the two places, or in none."""
        block = self.folder / name
        (block / "device").mkdir(parents=True)
        (block / "device" / "model").write_text(f"{model}\n")
        self._answers[name] = (
            bytes(384) + namespace.encode().ljust(32, b" ") + bytes(3680),
            bytes(3072) + controller.encode().ljust(32, b"\0") + bytes(992),
        )
        return block

    def ioctl(self, device: int, request: int, command: ctypes.Structure) -> int:
        """Answer as the driver of the kernel."""
        words = struct.unpack("<BBHIIIQQIIIIIIIIII", bytes(command))
        opcode, _, _, namespace, _, _, _, address, _, size, structure = words[:11]
        assert (request, opcode, size) == (0xC0484E41, 0x06, 4096)
        assert namespace == (1 if structure == 0 else 0)
        name = Path(f"/proc/self/fd/{device}").readlink().name
        ctypes.memmove(address, self._answers[name][structure], size)
        return 0


@pytest.fixture
def nvme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disks:
    made = Disks(tmp_path / "block")
    monkeypatch.setattr(ebs_volumes, "_BLOCKS", made.folder)
    monkeypatch.setattr("fcntl.ioctl", made.ioctl)
    dev = tmp_path / "dev"
    dev.mkdir()

    def name_of(disk: str) -> str:
        stand_in = dev / disk.removeprefix("/dev/")
        stand_in.touch()
        return device_name_of(str(stand_in))

    monkeypatch.setattr(ebs_volumes, "device_name_of", name_of)
    return made


def test_on_nitro_each_volume_tells_its_device_name_in_whatever_order(nvme: Disks) -> None:
    nvme.add("nvme0n1", namespace="/dev/xvda")
    second = nvme.add("nvme1n1", namespace="/dev/sdg")
    first = nvme.add("nvme2n1", namespace="sdf")

    assert volumes_named(["/dev/sdf", "/dev/sdg"]) == [first, second]


def test_the_controller_tells_it_where_the_namespace_does_not(nvme: Disks) -> None:
    block = nvme.add("nvme1n1", controller="/dev/sdf")

    assert volumes_named(["/dev/sdf"]) == [block]


def test_only_disks_of_ebs_are_asked(nvme: Disks) -> None:
    nvme.add("nvme1n1", model="Amazon EC2 NVMe Instance Storage", namespace="/dev/sdf")

    with pytest.raises(NodeError, match="/dev/sdf: this machine has no such volume of EBS"):
        volumes_named(["/dev/sdf"])


def test_a_volume_that_somebody_attached_is_not_taken(nvme: Disks) -> None:
    nvme.add("nvme0n1", namespace="/dev/sda1")
    nvme.add("nvme1n1", namespace="/dev/sdh")
    nvme.add("nvme2n1")

    with pytest.raises(NodeError, match="/dev/sdf"):
        volumes_named(["/dev/sdf"])


def test_a_disk_that_cannot_be_asked_is_an_error(tmp_path: Path) -> None:
    disk = tmp_path / "nvme1n1"
    disk.touch()

    with pytest.raises(NodeError, match="does not tell its device name"):
        device_name_of(str(disk))


def test_the_command_has_the_form_of_the_kernel(nvme: Disks, tmp_path: Path) -> None:
    nvme.add("nvme1n1", controller="/dev/sdf")
    disk = tmp_path / "nvme1n1"
    disk.touch()

    with disk.open("rb") as device:
        answer = identify(device.fileno(), 1, 0)

    assert answer[3072:3080] == b"/dev/sdf"
    assert len(answer) == 4096

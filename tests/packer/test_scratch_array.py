"""Scratch volumes in a kernel that has them: the real mdadm makes the array, and finds it again.

The kernel of the virtual machine calls its disks sdX, as some kernels on Xen do. No disk tells a
device name of EBS as NVMe; one shows that the kernel takes the Identify command. A boot takes
seconds of a processor, so that all tests look at the same two.
"""

import pytest
from kernel_machine import KernelMachine

MIB = 2**20
# The machine tells disks apart by their size; the settings name the first two.
SETTINGS = """
python3 - <<'END' >/run/disks
import json, pathlib
disks = {int(each.joinpath("size").read_text()) // 2048: each.name
         for each in pathlib.Path("/sys/block").glob("sd*")}
names = [f"/dev/{disks[size]}" for size in (320, 321)]
pathlib.Path("/etc/trainshed").mkdir()
pathlib.Path("/etc/trainshed/first-boot.json").write_text(json.dumps({"scratch_devices": names}))
print(f"second=/dev/{disks[321]} foreign=/dev/{disks[322]}")
END
. /run/disks
"""
FIRST = f"""{SETTINGS}
mkfs.ext4 -q -L theirs $second
/opt/trainshed/first-boot
echo "code $? with a volume of: $(blkid --probe --output value --match-tag LABEL $second)"
grep -c md /proc/mdstat

wipefs --all --quiet $second
/opt/trainshed/first-boot
echo "code $?"
findmnt -n -o FSTYPE,OPTIONS /scratch
cat /proc/mdstat
echo "mode $(stat -c %a /scratch)"
echo kept >/scratch/file
umount /scratch
"""
SECOND = f"""{SETTINGS}
/opt/trainshed/first-boot
echo "code $?"
cat /proc/mdstat
echo "file: $(cat /scratch/file)"
echo "foreign:$(blkid --probe $foreign)"
umount /scratch

python3 - <<'END'
import sys
sys.path.insert(0, "/opt/trainshed/lib")
from trainshed_node.ebs_volumes import device_name_of, identify
with open("/dev/nvme0n1", "rb") as disk:
    controller, namespace = identify(disk.fileno(), 1, 0), identify(disk.fileno(), 0, 1)
# NVM Express base specification: the serial number, and the size in blocks of 512 bytes.
print("nvme:", controller[4:24].decode().strip(), int.from_bytes(namespace[:8], "little"))
print("device name:", repr(device_name_of("/dev/nvme0n1")))
END
"""


@pytest.fixture(scope="module")
def boots(
    kernel_machine: KernelMachine, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, str]:
    """What two boots print, with two volumes for scratch space and one that somebody attached."""
    folder = tmp_path_factory.mktemp("disks")
    *disks, nvme = (folder / name for name in ("first", "second", "foreign", "nvme"))
    for number, image in enumerate((*disks, nvme)):
        with image.open("wb") as file:
            file.truncate((320 + number) * MIB)

    first = kernel_machine.boot(FIRST, disks=disks, programs=["grep", "wipefs"])
    second = kernel_machine.boot(SECOND, disks=disks, nvme=nvme, programs=["grep", "wipefs"])

    assert (first.code, second.code) == (0, 0)
    return first.output, second.output


def test_two_blank_volumes_become_one_array_for_everybody(boots: tuple[str, str]) -> None:
    _, _, made = boots[0].partition("making one array of")

    assert "\ncode 0\nxfs " in made
    assert "noatime" in made
    assert "active raid0" in made
    assert "\nmode 1777\n" in made


def test_the_next_boot_finds_the_array_and_what_was_written(boots: tuple[str, str]) -> None:
    assert "assembling" in boots[1]
    assert "formatting" not in boots[1]
    assert "\ncode 0\n" in boots[1]
    assert "active raid0" in boots[1]
    assert "\nfile: kept\n" in boots[1]


def test_a_disk_that_somebody_attached_stays_blank(boots: tuple[str, str]) -> None:
    assert "\nforeign:\n" in boots[1]


def test_a_volume_that_holds_something_fails_the_boot_untouched(boots: tuple[str, str]) -> None:
    assert "holds ext4; scratch space needs blank volumes" in boots[0]
    assert "\ncode 1 with a volume of: theirs\n0\n" in boots[0]


def test_the_kernel_takes_the_command_by_which_nvme_disks_tell_their_device_name(
    boots: tuple[str, str],
) -> None:
    blocks = 323 * MIB // 512
    assert f"nvme: vol0123456789abcdef0 {blocks}\ndevice name: ''" in boots[1]

"""AMIs that keep the disks of guests."""

from dataclasses import dataclass

import pytest
from guest_bench import BOOT_ID, UBUNTU, Bench, Guest

ROOT_GIB = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A guest and what was made of it."""

    source: Guest
    boot_before: str
    boot_between: str
    with_reboot: str
    without_reboot: str


@pytest.fixture(scope="module")
def made(bench: Bench) -> Made:
    """AMIs of one guest, the second of them made without a reboot."""
    source = bench.launch(
        bench.image_id(UBUNTU),
        BlockDeviceMappings=[
            {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": ROOT_GIB, "Encrypted": True}}
        ],
    )
    source.wait_for_ssh()
    source.ssh("echo first > baked; sudo rm /etc/lsb-release")
    boot_before = source.ssh(BOOT_ID)
    first = bench.ec2.create_image(InstanceId=source.instance_id, Name="with reboot")
    bench.wait_for_image(first["ImageId"])
    source.wait_for_boot_after(boot_before)
    boot_between = source.ssh(BOOT_ID)
    source.ssh("echo second > baked; sync")
    second = bench.ec2.create_image(
        InstanceId=source.instance_id, Name="without reboot", NoReboot=True
    )
    bench.wait_for_image(second["ImageId"])
    return Made(
        source=source,
        boot_before=boot_before,
        boot_between=boot_between,
        with_reboot=first["ImageId"],
        without_reboot=second["ImageId"],
    )


def test_making_an_ami_reboots_a_running_guest_unless_asked_not_to(made: Made) -> None:
    assert made.boot_between != made.boot_before
    assert made.source.ssh(BOOT_ID) == made.boot_between


def test_an_ami_has_the_volume_it_was_made_of(bench: Bench, made: Made) -> None:
    image = bench.ec2.describe_images(ImageIds=[made.with_reboot])["Images"][0]

    [mapping] = image["BlockDeviceMappings"]
    assert (mapping["DeviceName"], mapping["Ebs"]["VolumeSize"]) == ("/dev/sda1", ROOT_GIB)
    [snapshot] = bench.ec2.describe_snapshots(SnapshotIds=[mapping["Ebs"]["SnapshotId"]])[
        "Snapshots"
    ]
    assert (snapshot["VolumeSize"], snapshot["Encrypted"]) == (ROOT_GIB, True)


def test_amis_boot_with_the_disks_they_kept(bench: Bench, made: Made) -> None:
    copy = bench.ec2.copy_image(
        Name="copy", SourceImageId=made.with_reboot, SourceRegion="us-west-2"
    )["ImageId"]
    first, second = bench.launch(copy), bench.launch(made.without_reboot)
    bench.ec2.deregister_image(ImageId=copy)
    bench.ec2.deregister_image(ImageId=made.with_reboot)

    first.wait_for_ssh()
    second.wait_for_ssh()

    assert (first.ssh("cat baked"), second.ssh("cat baked")) == ("first", "second")
    assert first.try_ssh("test -e /etc/lsb-release").returncode == 1
    assert first.ssh("hostname") == f"ip-{first.address.replace('.', '-')}"
    assert made.source.ssh("cat baked") == "second"
    ids = [first.instance_id, second.instance_id, made.source.instance_id]
    bench.ec2.terminate_instances(InstanceIds=ids)
    assert {guest.state for guest in (first, second, made.source)} == {"terminated"}

"""Switching guests off and on, from EC2 and from within."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from guest_bench import BOOT_ID, UBUNTU, Bench, Guest


@pytest.fixture(scope="module")
def mine(bench: Bench) -> Guest:
    """A guest that the tests of this module switch off and on."""
    guest = bench.launch(bench.image_id(UBUNTU))
    guest.wait_for_ssh()
    return guest


def test_a_stopped_guest_is_off_and_starts_with_its_disk(bench: Bench, mine: Guest) -> None:
    mine.ssh("echo kept > kept")

    bench.ec2.stop_instances(InstanceIds=[mine.instance_id])
    mine.wait_for_state("stopped")

    assert mine.try_ssh("true").returncode
    bench.ec2.start_instances(InstanceIds=[mine.instance_id])
    mine.wait_for_ssh()
    assert mine.ssh("cat kept") == "kept"
    assert mine.state == "running"


def test_a_guest_can_be_stopped_while_it_boots(bench: Bench) -> None:
    guest = bench.launch(bench.image_id(UBUNTU))
    guest.wait_for_state("running")

    bench.ec2.stop_instances(InstanceIds=[guest.instance_id])
    guest.wait_for_state("stopped")

    console = bench.ec2.get_console_output(InstanceId=guest.instance_id)["Output"]
    assert "Reached target" in console
    bench.ec2.terminate_instances(InstanceIds=[guest.instance_id])


def test_a_reboot_from_within_boots_the_newest_kernel(mine: Guest) -> None:
    before = mine.ssh(BOOT_ID)
    mine.ssh("sudo touch /boot/vmlinuz-6.8.0-{9,1063}-aws")

    mine.try_ssh("sudo systemctl reboot")
    mine.wait_for_boot_after(before)

    assert mine.ssh("uname -r") == "6.8.0-1063-aws"
    assert mine.state == "running"


def test_a_reboot_from_ec2_keeps_address_and_disk(bench: Bench, mine: Guest) -> None:
    before, address = mine.ssh(BOOT_ID), mine.address
    mine.ssh("touch there")

    bench.ec2.reboot_instances(InstanceIds=[mine.instance_id])
    mine.wait_for_boot_after(before)

    assert mine.address == address
    mine.ssh("test -e there")


def test_a_shutdown_from_within_does_as_the_instance_says(bench: Bench, mine: Guest) -> None:
    other = bench.launch(bench.image_id(UBUNTU), InstanceInitiatedShutdownBehavior="terminate")
    other.wait_for_ssh()

    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda guest: guest.try_ssh("sudo systemctl poweroff"), (mine, other)))

    mine.wait_for_state("stopped")
    other.wait_for_state("terminated")
    assert mine.describe()["StateReason"]["Code"] == "Client.InstanceInitiatedShutdown"

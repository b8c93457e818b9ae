"""DCGM, its exporter and GDRCopy on a baked nvidia image: with no GPU, and with a file like one."""

from collections.abc import Iterator

import pytest
from bake_bench import Bakery
from guest_bench import Bench, Guest

pytestmark = pytest.mark.ladder

_SOCKET = "/run/nvidia-dcgm/nv-hostengine"


@pytest.fixture(scope="module")
def guest(bakery: Bakery, bench: Bench) -> Iterator[Guest]:
    bakery.start(("nvidia", "ecs"))
    bake = bakery.baked("nvidia", "ecs")
    with bench.launched(bake.image_id, user="ec2-user") as launched:
        state = "systemctl is-system-running --wait || true"
        assert launched.ssh(state) in ("running", "degraded")
        yield launched


def test_the_exporter_and_the_package_s_own_service_are_left_off(guest: Guest) -> None:
    units = "nvidia-dcgm trainshed-gdrcopy nvidia-dcgm-exporter gdrcopy"

    printed = guest.ssh(f"systemctl is-enabled {units} || true")

    assert printed.split() == ["enabled", "enabled", "disabled", "disabled"]


def test_without_a_gpu_they_are_skipped_and_nothing_failed(guest: Guest) -> None:
    printed = guest.ssh("systemctl is-active nvidia-dcgm trainshed-gdrcopy || true")
    skipped = guest.ssh("systemctl show --property=ConditionResult --value nvidia-dcgm")
    failed = guest.ssh("systemctl list-units --state=failed --plain --no-legend")

    assert printed.split() == ["inactive", "inactive"]
    assert skipped == "no"
    # NVIDIA's own persistence daemon fails without one.
    assert [line.split()[0] for line in failed.splitlines()] == ["nvidia-persistenced.service"]


def test_dcgm_listens_on_its_socket_for_root_and_on_no_port(guest: Guest) -> None:
    guest.ssh("sudo mknod /dev/nvidia0 c 195 0; sudo systemctl start nvidia-dcgm-exporter")

    assert guest.ssh("systemctl is-active nvidia-dcgm nvidia-dcgm-exporter").split() == [
        "active",
        "active",
    ]
    discovery = f"dcgmi discovery --host unix://{_SOCKET} --list"
    assert guest.ssh(f"sudo {discovery}") == "0 GPUs found."
    assert "unable to establish a connection" in guest.ssh(f"{discovery} || true")
    # By the kernel's list: 15B3 is 5555.
    assert ":15B3 " not in guest.ssh("cat /proc/net/tcp")


def test_the_exporter_takes_the_loopback_and_the_dcgm_that_runs(guest: Guest) -> None:
    # Read from the process: what systemd would say about it is only its unit file.
    printed = guest.ssh(
        "sudo sh -c \"tr '\\\\0' '\\\\n' </proc/$(systemctl show --property=MainPID --value "
        'nvidia-dcgm-exporter)/environ"'
    )

    environment = dict(line.split("=", 1) for line in printed.splitlines())
    assert environment["DCGM_EXPORTER_LISTEN"] == "127.0.0.1:9400"
    assert environment["DCGM_REMOTE_HOSTENGINE_INFO"] == f"unix://{_SOCKET}"


def test_a_driver_of_gdrcopy_that_does_not_load_fails_its_unit_and_says_why(guest: Guest) -> None:
    # A guest has the kernel of the machine that it runs on, and no modules for that.
    printed = guest.ssh(
        "sudo systemctl start trainshed-gdrcopy || systemctl is-failed trainshed-gdrcopy; "
        "sudo journalctl --unit trainshed-gdrcopy --output cat"
    )

    assert printed.splitlines()[0] == "failed"
    assert "trainshed: ERROR: gdrcopy: modprobe gdrdrv: " in printed

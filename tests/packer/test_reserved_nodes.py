"""A node in a reservation reboots once before it powers off; another would be on its hardware."""

import json
from pathlib import Path

import pytest
from cluster_node import EFA, SYSTEMCTL, ClusterNode
from node_root import needs_namespaces

pytestmark = needs_namespaces

UNFIT = "/opt/trainshed/unfit"
BOOT = "/opt/trainshed/first-boot"
# A reboot ends what runs.
ENDING = 'case "$*" in "--no-block reboot") kill -TERM $PPID ;; esac'


@pytest.fixture
def machine(tmp_path: Path) -> ClusterNode:
    made = ClusterNode.healthy(tmp_path)
    made.command("systemctl", f'echo "$*" >>/run/asked\n{SYSTEMCTL}')
    return made


def reserve(machine: ClusterNode) -> None:
    path = machine.path / "etc/trainshed/first-boot.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"reserved": True}))


def ends(machine: ClusterNode) -> list[str]:
    """Return how the node was to end, each time."""
    asked = (machine.path / "run/asked").read_text().splitlines()
    return [each.removeprefix("--no-block ") for each in asked if each.startswith("--no-block")]


def test_a_node_that_is_marked_unfit_powers_off(machine: ClusterNode) -> None:
    done = machine.run(UNFIT)

    assert done.returncode == 0
    assert "powers off, so that it is terminated and replaced" in done.stdout
    assert ends(machine) == ["poweroff"]


def test_a_reserved_node_that_is_marked_unfit_reboots_once(machine: ClusterNode) -> None:
    reserve(machine)

    said = [machine.run(UNFIT).stdout for _ in range(2)]

    assert ends(machine) == ["reboot", "poweroff"]
    assert "reboots, once, because this node is reserved" in said[0]


def test_a_reserved_node_whose_boot_fails_reboots_once(machine: ClusterNode) -> None:
    reserve(machine)
    machine.unplug(EFA, 7)
    machine.command("systemctl", f'echo "$*" >>/run/asked\n{ENDING}\n{SYSTEMCTL}')

    rebooted, failed = (machine.boot(BOOT) for _ in range(2))

    # It does not fail before the shutdown ends it: its unit would power the node off.
    assert rebooted.code < 0 or rebooted.code > 128
    assert "trainshed: reboots, once, because this node is reserved" in rebooted.lines
    assert failed.code == 1
    assert [each.tag for each in (rebooted, failed)] == [failed.tag] * 2
    assert ends(machine) == ["reboot"]


def test_a_node_that_is_not_reserved_does_not_reboot(machine: ClusterNode) -> None:
    machine.unplug(EFA, 7)

    assert machine.boot(BOOT).code == 1
    assert ends(machine) == []

"""The folder in which jobs mark a node unfit, and who looks at it.

What systemd does when the mark is there, guests show.
"""

import json
from pathlib import Path

import pytest
from cluster_node import SYSTEMCTL, ClusterNode
from node_root import needs_namespaces

pytestmark = needs_namespaces

BOOT = "/opt/trainshed/first-boot"
FOLDER = "/run/trainshed/unfit"


@pytest.fixture
def machine(tmp_path: Path) -> ClusterNode:
    made = ClusterNode.healthy(tmp_path)
    made.command("systemctl", f'echo "$*" >>/run/asked\n{SYSTEMCTL}')
    return made


def test_a_node_of_a_cluster_waits_for_a_mark_that_every_user_can_make(
    machine: ClusterNode,
) -> None:
    done = machine.shell(
        f"{BOOT} && {BOOT} && stat -c %a {FOLDER} && grep -c {FOLDER} /proc/mounts; cat /run/asked"
    )

    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert "start trainshed-unfit.path" in said
    assert said[said.index("1777") + 1] == "1"


def test_the_folder_has_room_for_little_and_runs_nothing(machine: ClusterNode) -> None:
    fill = f"dd if=/dev/zero of={FOLDER}/mark bs=1k count=100"
    program = f"cp /usr/bin/true {FOLDER}/program; {FOLDER}/program"

    done = machine.shell(f"{BOOT} >/dev/null && {{ {fill}; {program}; }}")

    assert "No space left on device" in done.stderr
    assert "Permission denied" in done.stderr


def test_an_instance_of_no_cluster_waits_for_no_mark(machine: ClusterNode) -> None:
    machine.write("etc/trainshed/first-boot.json", json.dumps({"devices": {}}))

    done = machine.shell(f"{BOOT} && cat /run/asked; ls {FOLDER}")

    assert "unfit" not in done.stdout
    assert "No such file or directory" in done.stderr


def test_a_node_that_could_not_be_marked_takes_no_job(machine: ClusterNode) -> None:
    machine.command("systemctl", f"case $1 in start) echo no unit >&2; exit 5 ;; esac\n{SYSTEMCTL}")

    boot = machine.boot()

    assert boot.code == 1
    assert boot.error.endswith(
        f"{FOLDER}: systemctl start trainshed-unfit.path failed: no unit; reboot the node"
    )

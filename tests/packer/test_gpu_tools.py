"""DCGM and GDRCopy on NVIDIA's images: what the self-test says about them, and GDRCopy's device."""

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from node_root import RECIPES, NodeRoot, needs_namespaces
from skips import needs

pytestmark = [needs_namespaces, needs(root="it makes device nodes")]

NAMES = ("DCGM", "GDRCopy")
BASE = "amazon-linux-2023"
SOCKET = "--host unix:///run/nvidia-dcgm/nv-hostengine"
# A major number that the machine which runs the tests may well have given to something else.
MAJOR = 506
PROC_DEVICES = f"Character devices:\n  1 mem\n{MAJOR} gdrdrv\n195 nvidia\n\nBlock devices:\n"


@pytest.fixture
def machine(tmp_path: Path) -> NodeRoot:
    """An nvidia machine for ECS, with the real pins, two GPUs and everything in order."""
    made = NodeRoot.make(
        tmp_path,
        devices='mount -t tmpfs none "$1/dev"; mknod "$1/dev/null" c 1 3\n'
        f'mknod -m 666 "$1/dev/gdrdrv" c {MAJOR} 0\n'
        'mount --bind "$1/devices" "$1/proc/devices"',
    )
    made.write("devices", PROC_DEVICES)
    pin(made)
    for index in range(2):
        card = f"sys/bus/pci/devices/0000:00:0{index}.0"
        for name, value in {"vendor": "0x10de", "device": "0x2330", "class": "0x030200"}.items():
            made.write(f"{card}/{name}", f"{value}\n")
    made.command("systemctl", "echo enabled")
    made.command("dcgmi", f'test "$*" = "discovery {SOCKET} --list" && echo "2 GPUs found."')
    return made


def pin(machine: NodeRoot, **changes: str) -> None:
    orchestrator = changes.get("orchestrator", "ecs")
    recipe = json.loads((RECIPES / f"nvidia-{orchestrator}-{BASE}.json").read_text())
    wanted = {
        name: facts
        for name, facts in recipe["components"].items()
        if name in ("nvidia-dcgm", "gdrcopy")
    }
    machine.pin(wanted, {"accelerator": "nvidia", "base": BASE, **changes})


def with_devices(machine: NodeRoot, commands: str) -> NodeRoot:
    return NodeRoot(path=machine.path, devices=f"{machine.devices}\n{commands}")


def tools(machine: NodeRoot, *arguments: str) -> dict[str, dict[str, str]]:
    done = machine.program("selftest", "--json", *arguments)
    results: list[dict[str, Any]] = json.loads(done.stdout)["components"]
    return {each["name"]: each for each in results if each["name"] in NAMES}


def states(results: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {name: each["state"] for name, each in results.items()}


def test_a_machine_whose_gpus_dcgm_knows_and_whose_device_is_there_passes(
    machine: NodeRoot,
) -> None:
    found = tools(machine)

    assert states(found) == {"DCGM": "ok", "GDRCopy": "ok"}
    assert (found["DCGM"]["version"], found["DCGM"]["expected"]) == ("2", "2")


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        pytest.param(
            "echo 'Error: unable to establish a connection to the specified host.'; exit 1",
            "dcgmi: Error: unable to establish a connection to the specified host.; "
            "see journalctl --unit nvidia-dcgm.service",
            id="not-running",
        ),
        pytest.param(
            "echo '1 GPU found.'",
            "2 on the PCI bus, and DCGM knows 1; see journalctl --unit nvidia-dcgm.service",
            id="one-is-missing",
        ),
        pytest.param(
            "echo 'No supported entities.'",
            "dcgmi: No supported entities.; see journalctl --unit nvidia-dcgm.service",
            id="says-nothing-of-gpus",
        ),
    ],
)
def test_dcgm_that_does_not_know_every_gpu_fails(
    machine: NodeRoot, answer: str, detail: str
) -> None:
    machine.command("dcgmi", answer)

    result = tools(machine)["DCGM"]

    assert (result["state"], result["detail"]) == ("failed", detail)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param('rm "$1/dev/gdrdrv"', id="no-device"),
        pytest.param('rm "$1/dev/gdrdrv"; touch "$1/dev/gdrdrv"', id="a-file"),
        pytest.param('chmod 600 "$1/dev/gdrdrv"', id="for-root-alone"),
        pytest.param(
            f'rm "$1/dev/gdrdrv"; mknod -m 666 "$1/dev/gdrdrv" c {MAJOR + 1} 0', id="stale"
        ),
        pytest.param(': >"$1/devices"', id="driver-not-loaded"),
    ],
)
def test_gdrcopy_without_its_driver_s_device_fails(machine: NodeRoot, broken: str) -> None:
    result = tools(with_devices(machine, broken))["GDRCopy"]

    assert result["state"] == "failed"
    assert result["detail"] == (
        "/dev/gdrdrv is not the loaded driver's, for everybody; "
        "see journalctl --unit trainshed-gdrcopy.service"
    )


def test_units_that_are_not_enabled_fail_even_without_a_gpu(machine: NodeRoot) -> None:
    machine.command("systemctl", "echo disabled; exit 1")
    no_gpu(machine)

    found = tools(machine)

    assert {name: each["detail"] for name, each in found.items()} == {
        "DCGM": "nvidia-dcgm.service is not enabled",
        "GDRCopy": "trainshed-gdrcopy.service is not enabled",
    }
    assert set(states(found).values()) == {"failed"}


def test_without_a_gpu_both_are_unchecked(machine: NodeRoot) -> None:
    no_gpu(machine)

    found = tools(with_devices(machine, 'rm "$1/dev/gdrdrv"'))

    assert states(found) == dict.fromkeys(NAMES, "unchecked")
    assert {each["detail"] for each in found.values()} == {"this machine has no GPU on its PCI bus"}


def test_on_the_build_instance_nothing_has_started_yet(machine: NodeRoot) -> None:
    machine.command("dcgmi", "exit 1")

    found = tools(machine, "--stage", "bake")

    assert states(found) == dict.fromkeys(NAMES, "unchecked")


def test_on_eks_there_is_gdrcopy_and_no_dcgm(machine: NodeRoot) -> None:
    pin(machine, orchestrator="eks-1.35")

    assert states(tools(machine)) == {"GDRCopy": "ok"}


def no_gpu(machine: NodeRoot) -> None:
    for path in machine.path.glob("sys/bus/pci/devices/*/vendor"):
        path.write_text("0x1d0f\n")


DEVICE = 'stat --format="%F %t:%T %a" /dev/gdrdrv'


@pytest.mark.parametrize(
    "before",
    [
        pytest.param('rm "$1/dev/gdrdrv"', id="none"),
        pytest.param(f'rm "$1/dev/gdrdrv"; mknod "$1/dev/gdrdrv" c {MAJOR + 1} 0', id="stale"),
        pytest.param('chmod 600 "$1/dev/gdrdrv"', id="for-root-alone"),
        pytest.param("", id="good"),
    ],
)
def test_the_device_of_the_loaded_driver_is_made_for_everybody(
    machine: NodeRoot, before: str
) -> None:
    machine.command("modprobe", 'echo "$*" >>/modprobe')
    machine = with_devices(machine, before)

    done = machine.shell(f"/opt/trainshed/gdrcopy && {DEVICE}")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "GDRCopy: /dev/gdrdrv is there",
        f"character special file {MAJOR:x}:0 666",
    ]
    assert (machine.path / "modprobe").read_text() == "gdrdrv\n"


@pytest.mark.parametrize(
    ("modprobe", "devices", "message"),
    [
        pytest.param(
            "echo 'modprobe: FATAL: Module gdrdrv not found.' >&2; exit 1",
            PROC_DEVICES,
            "gdrcopy: modprobe gdrdrv: modprobe: FATAL: Module gdrdrv not found.; see dmesg",
            id="not-built",
        ),
        pytest.param(
            "",
            "Character devices:\n  1 mem\n",
            "gdrcopy: gdrdrv is loaded and has no number in /proc/devices; see dmesg",
            id="no-number",
        ),
    ],
)
def test_a_driver_that_does_not_load_is_one_line(
    machine: NodeRoot, modprobe: str, devices: str, message: str
) -> None:
    machine.command("modprobe", modprobe)
    machine.write("devices", devices)

    done = machine.program("gdrcopy")

    assert done.returncode == 1
    assert done.stderr == f"trainshed: ERROR: {message}\n"


def test_the_programs_are_executable() -> None:
    program = RECIPES.parent / "files" / "opt" / "trainshed" / "gdrcopy"

    assert stat.S_IMODE(program.stat().st_mode) & 0o111

"""What a node does now, as `trainshed top` asks each node for it."""

import json
from pathlib import Path
from typing import Any

import pytest
from accelerator_reports import neuron_monitor, neuron_report
from node_root import NodeRoot, needs_namespaces

pytestmark = needs_namespaces

# Systems Manager shows so much of a command's output in a list.
_SHOWN = 2500
NVIDIA = (
    "--query-gpu=index,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,"
    "ecc.errors.uncorrected.volatile.total --format=csv,noheader,nounits"
)
HABANA = (
    "-Q index,utilization.aip,memory.used,memory.total,temperature.aip,power.draw,"
    "ecc.errors.uncorrected.volatile.total -f csv,noheader,nounits"
)


@pytest.fixture
def machine(tmp_path: Path) -> NodeRoot:
    made = NodeRoot.make(tmp_path)
    for device in range(2):
        for counter in ("tx_bytes", "rx_bytes", "rx_drops", "lifespan"):
            made.write(f"{efa(device)}/ports/1/hw_counters/{counter}", "1000\n")
        driver(made, efa(device), "efa")
    other = "sys/class/infiniband/mlx5_0"
    made.write(f"{other}/ports/1/hw_counters/tx_bytes", "1000\n")
    driver(made, other, "mlx5_core")
    return made


def efa(device: int) -> str:
    return f"sys/class/infiniband/rdmap{device}s0"


def driver(machine: NodeRoot, device: str, name: str) -> None:
    folder = machine.path / device / "device"
    folder.mkdir()
    (folder / "driver").symlink_to(f"/sys/bus/pci/drivers/{name}")


def usage(machine: NodeRoot) -> Any:
    done = machine.program("trainshed-usage")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) < _SHOWN
    assert len(done.stdout.splitlines()) == 1
    return json.loads(done.stdout)


def tool(machine: NodeRoot, name: str, arguments: str, lines: str, then: str = "") -> None:
    """Put a stand-in that refuses other arguments."""
    script = f'[ "$*" = "{arguments}" ] || exit 3\n{then}\ncat <<"END"\n{lines}\nEND\n'
    machine.command(name, script)


def test_nvidias_gpus(machine: NodeRoot) -> None:
    lines = "0, 97, 40123, 81559, 61, 512.34, 0\n1, 0, 3, 81559, 33, 71.05, [N/A]"
    tool(machine, "nvidia-smi", NVIDIA, lines)

    found = usage(machine)

    assert found["accelerators"] == [
        [0, 97, 40123, 81559, 61, 512.34, 0],
        [1, 0, 3, 81559, 33, 71.05, None],
    ]
    assert found["problem"] == ""
    used, total = found["memory"]
    assert 0 < used < total
    assert found["cpus"] > 0


def test_gaudi(machine: NodeRoot) -> None:
    tool(machine, "hl-smi", HABANA, "0, 12, 768, 98304, 40, 220, 0\n7, 0, 768, 98304, 38, N/A, 2")

    found = usage(machine)

    assert found["accelerators"] == [
        [0, 12, 768, 98304, 40, 220, 0],
        [7, 0, 768, 98304, 38, None, 2],
    ]


def test_neuron_devices_of_all_cores_of_all_runtimes(machine: NodeRoot) -> None:
    report = neuron_report(3, {0: 80.0, 1: 40.0, 2: 10.0}, uncorrected=1)
    machine.write("opt/aws/neuron/bin/neuron-monitor", neuron_monitor(report)).chmod(0o755)

    found = usage(machine)

    # Busy: on average of the two cores of a device.
    assert found["accelerators"] == [
        [0, 60.0, 2048, 32768, None, None, 1],
        [1, 5.0, 1024, 32768, None, None, 0],
        [2, 0, 0, 32768, None, None, 0],
    ]


def test_sixteen_busy_devices_fit_into_what_systems_manager_shows(machine: NodeRoot) -> None:
    report = neuron_report(16, dict.fromkeys(range(32), 99.87), uncorrected=12345)
    machine.write("opt/aws/neuron/bin/neuron-monitor", neuron_monitor(report)).chmod(0o755)

    assert len(usage(machine)["accelerators"]) == 16


def test_efa_by_what_its_counters_grow_by(machine: NodeRoot) -> None:
    counters = f"/{efa(1)}/ports/1/hw_counters"
    other = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters"
    grow = f"echo 6000 >{counters}/tx_bytes; echo 1007 >{counters}/rx_drops; "
    # As after a reset of the device.
    grow += f"echo 0 >{counters}/rx_bytes; echo 9000 >{other}/tx_bytes"
    tool(machine, "nvidia-smi", NVIDIA, "0, 1, 1, 2, 30, 50, 0", then=grow)

    found = usage(machine)["efa"]

    assert found == {
        "devices": 2,
        "sent": 5000,
        "received": 0,
        "dropped": 7,
        "retransmitted": 0,
        "timeouts": 0,
        "faults": 0,
    }


def test_a_tool_that_fails_is_a_problem_and_the_rest_is_there(machine: NodeRoot) -> None:
    lost = "Unable to determine the device handle for GPU0000:53:00.0: GPU is lost"
    machine.command("nvidia-smi", f"echo '{lost}' >&2; exit 15")

    found = usage(machine)

    assert found["problem"] == f"nvidia-smi: {lost}; replace the node if that stays"
    assert found["accelerators"] == []
    assert found["efa"]["devices"] == 2


def test_an_efa_device_that_does_not_answer_is_a_problem_and_the_rest_is_there(
    machine: NodeRoot,
) -> None:
    machine.write(f"{efa(1)}/ports/1/hw_counters/tx_bytes", "")
    tool(machine, "nvidia-smi", NVIDIA, "0, 1, 1, 2, 30, 50, 0")

    found = usage(machine)

    assert found["problem"].startswith("rdmap1s0: ")
    assert found["efa"] is None
    assert len(found["accelerators"]) == 1


@pytest.mark.parametrize("printed", ["null", '{"neuron_runtime_data": [', "{}"])
def test_a_report_of_neuron_in_another_form_is_a_problem(machine: NodeRoot, printed: str) -> None:
    machine.write("opt/aws/neuron/bin/neuron-monitor", neuron_monitor(printed)).chmod(0o755)

    found = usage(machine)

    assert f"neuron-monitor: printed no report that is known: {printed};" in found["problem"]
    assert found["efa"]["devices"] == 2


def test_neuron_monitor_that_prints_nothing_is_a_problem(machine: NodeRoot) -> None:
    machine.write("opt/aws/neuron/bin/neuron-monitor", "#!/bin/sh\nexit 1\n").chmod(0o755)

    found = usage(machine)

    assert "neuron-monitor: no report within 10 seconds" in found["problem"]


def test_without_any_tool_that_is_said(machine: NodeRoot) -> None:
    assert "none of nvidia-smi, hl-smi, neuron-monitor" in usage(machine)["problem"]

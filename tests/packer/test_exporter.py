"""What the exporter of our AMIs shows the CloudWatch agent.

The real program runs in a network of its own; EFA's counters are files, hl-smi and neuron-monitor
are stand-ins that print what the makers' guides show.
"""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from node_root import LOOPBACK_UP, NodeRoot, needs_namespaces

from trainshed.metrics.agent import exported, prometheus_configuration
from trainshed.metrics.exporters import OURS
from trainshed_node import nvidia_metrics, tool_tables
from trainshed_node.errors import NodeError
from trainshed_node.habana_metrics import habana_metrics
from trainshed_node.neuron_metrics import NeuronReports
from trainshed_node.series import Series
from trainshed_node.system import Finished

pytestmark = needs_namespaces

ASK = f"http://127.0.0.1:{OURS.port}/metrics"
# neuron-monitor prints for as long as it runs.
REPORT = {
    "neuron_runtime_data": [
        {
            "pid": 7,
            "neuron_runtime_tag": "7",
            "error": "",
            "report": {
                "execution_stats": {"error_summary": {"generic": 1, "hardware": 2}},
                "memory_used": {"neuron_runtime_used_bytes": {"host": 5, "neuron_device": 9}},
                "neuroncore_counters": {
                    "neuroncores_in_use": {"0": {"neuroncore_utilization": 50.0}}
                },
            },
        }
    ],
    "system_data": {
        "neuron_hw_counters": {
            "neuron_devices": [
                {
                    "neuron_device_index": 0,
                    "mem_ecc_corrected": 4,
                    "mem_ecc_uncorrected": 3,
                    "sram_ecc_uncorrected": 0,
                    "sram_ecc_corrected": 0,
                }
            ],
            "error": "",
        }
    },
}


@pytest.fixture
def node(tmp_path: Path) -> NodeRoot:
    # /dev is the test's, with what programs of the system need.
    devices = "null zero random urandom"
    bind = 'touch "$1/dev/$each"; mount --bind "/dev/$each" "$1/dev/$each"'
    return NodeRoot.make(tmp_path, devices=f"for each in {devices}; do {bind}; done")


def shown(node: NodeRoot, wanted: str = "") -> dict[str, float]:
    """What it shows, values by series, once that has a wanted text."""
    done = node.run(
        *("unshare", "--net", "timeout", "30", "sh", "-c"),
        f"{LOOPBACK_UP}; /opt/trainshed/exporter & "
        f"until curl --silent --fail {ASK} >/tmp/shown && grep -q '{wanted}' /tmp/shown; "
        "do :; done; kill $!; cat /tmp/shown",
    )
    lines = (line.rpartition(" ") for line in done.stdout.splitlines())
    return {series: float(value) for series, _, value in lines if not series.startswith("#")}


def answered(node: NodeRoot) -> "subprocess.CompletedProcess[str]":
    """The code of its first answer, and what it prints."""
    return node.run(
        *("unshare", "--net", "timeout", "30", "sh", "-c"),
        f"{LOOPBACK_UP}; /opt/trainshed/exporter & "
        f"until curl --silent -o /dev/null -w '%{{http_code}}' {ASK}; do :; done; kill $!",
    )


def efa(node: NodeRoot, device: str, counters: Mapping[str, int], driver: str = "efa") -> None:
    folder = f"sys/class/infiniband/{device}"
    for name, value in counters.items():
        node.write(f"{folder}/ports/1/hw_counters/{name}", f"{value}\n")
    link = node.path / folder / "device/driver"
    link.parent.mkdir(parents=True)
    link.symlink_to(f"/sys/bus/pci/drivers/{driver}")


def neuron(node: NodeRoot, *reports: object) -> None:
    lines = "\n".join(map(json.dumps, reports))
    program = node.write(
        "opt/aws/neuron/bin/neuron-monitor",
        f"#!/bin/sh\ncat <<'EOF'\n{lines}\nEOF\nexec sleep 1000\n",
    )
    program.chmod(0o755)


def gaudi(node: NodeRoot, *lines: str) -> None:
    query = (
        "-Q index,utilization.aip,memory.used,temperature.aip,power.draw,"
        "ecc.errors.uncorrected.volatile.total -f csv,noheader,nounits"
    )
    printed = "\n".join(lines)
    node.command("hl-smi", f'[ "$*" = "{query}" ] || exit 3\ncat <<EOF\n{printed}\nEOF')


def gpus(node: NodeRoot, of_gpus: str, of_rows: str) -> None:
    """Have a device of a GPU, and a tool that knows its documented queries alone."""
    node.write("dev/nvidia0", "")
    queries = {
        "--query-gpu=pci.bus_id,utilization.gpu,memory.used,temperature.gpu,power.draw,"
        "ecc.errors.uncorrected.volatile.total": of_gpus,
        "--query-remapped-rows=gpu_bus_id,remapped_rows.failure,"
        "remapped_rows.uncorrectable": of_rows,
    }
    cases = "\n".join(
        f"'{query} --format=csv,noheader,nounits') cat <<'EOF'\n{printed}\nEOF\n;;"
        for query, printed in queries.items()
    )
    node.command("nvidia-smi", f'case "$*" in\n{cases}\n*) echo $* >&2; exit 3 ;; esac')


def test_counters_of_efa_have_the_names_of_the_cloudwatch_agent(node: NodeRoot) -> None:
    efa(node, "rdmap0", {"tx_bytes": 7, "rx_drops": 2, "lifespan": 10})
    efa(node, "mlx5_0", {"tx_bytes": 1}, driver="mlx5_core")

    assert shown(node) == {
        'efa_rx_dropped{device="rdmap0",port="1"}': 2,
        'efa_tx_bytes{device="rdmap0",port="1"}': 7,
    }


def test_a_device_of_efa_that_does_not_answer_is_an_error_of_the_answer(node: NodeRoot) -> None:
    efa(node, "rdmap0", {"tx_bytes/unreadable": 7})

    done = answered(node)

    assert "500" in done.stdout
    assert "ERROR: rdmap0: [Errno 21] Is a directory" in done.stderr


def test_devices_of_gaudi_have_the_names_of_intels_exporter(node: NodeRoot) -> None:
    gaudi(node, "0, 78, 512, 41, 100, 3", "1, 0, 0, 40, N/A, 0")

    found = shown(node)

    assert found['habanalabs_utilization{device="0"}'] == 78
    assert found['habanalabs_memory_used_bytes{device="0"}'] == 512 * 1024 * 1024
    assert found['habanalabs_power_mW{device="0"}'] == 100_000
    assert found['trainshed_hpu_ecc_uncorrected{device="0"}'] == 3
    assert 'habanalabs_power_mW{device="1"}' not in found


def test_gpus_without_dcgm_have_the_names_of_its_exporter(node: NodeRoot) -> None:
    gpus(
        node,
        "00000000:53:00.0, 97, 71234, 61, 512.37, 2\n00000000:64:00.0, 0, 4, 30, 70.1, [N/A]",
        "00000000:53:00.0, No, 1\n00000000:64:00.0, Yes, 0",
    )

    found = shown(node)

    first, second = '{pci_bus_id="00000000:53:00.0"}', '{pci_bus_id="00000000:64:00.0"}'
    assert {name: value for name, value in found.items() if name.endswith(first)} == {
        f"DCGM_FI_DEV_GPU_UTIL{first}": 97,
        f"DCGM_FI_DEV_FB_USED{first}": 71234,
        f"DCGM_FI_DEV_GPU_TEMP{first}": 61,
        f"DCGM_FI_DEV_POWER_USAGE{first}": 512.37,
        f"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{first}": 2,
        f"DCGM_FI_DEV_ROW_REMAP_FAILURE{first}": 0,
        f"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{first}": 1,
    }
    assert f"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{second}" not in found
    assert found[f"DCGM_FI_DEV_ROW_REMAP_FAILURE{second}"] == 1


def test_gpus_that_remap_no_rows_have_the_other_metrics(node: NodeRoot) -> None:
    gpus(node, "00000000:53:00.0, 97, 71234, 61, 512.37, 2", "")
    known = (node.path.parent / f"{node.path.name}.local/bin/nvidia-smi").read_text()
    no_rows = 'case "$*" in --query-remapped*) echo not supported; exit 6 ;; esac'
    node.command("nvidia-smi", known.replace("#!/bin/sh", no_rows))

    found = shown(node)

    place = '{pci_bus_id="00000000:53:00.0"}'
    assert found[f"DCGM_FI_DEV_GPU_UTIL{place}"] == 97
    assert f"DCGM_FI_DEV_ROW_REMAP_FAILURE{place}" not in found


def test_gpus_that_their_tool_does_not_find_are_an_error_of_the_answer(node: NodeRoot) -> None:
    node.write("dev/nvidia0", "")
    node.command("nvidia-smi", "echo Unable to determine the device handle; exit 15")

    done = answered(node)

    assert "500" in done.stdout
    assert "ERROR: nvidia-smi: Unable to determine the device handle" in done.stderr


def test_gpus_that_dcgms_exporter_shows_are_not_shown_twice(node: NodeRoot) -> None:
    gpus(node, "00000000:53:00.0, 97, 71234, 61, 512.37, 2", "00000000:53:00.0, 0, 0")
    node.command("dcgm-exporter", "true")
    efa(node, "rdmap0", {"tx_bytes": 7})

    assert shown(node) == {'efa_tx_bytes{device="rdmap0",port="1"}': 7}


def test_where_no_gpu_is_their_tool_is_not_asked(node: NodeRoot) -> None:
    node.command("nvidia-smi", "echo no driver >&2; exit 9")
    efa(node, "rdmap0", {"tx_bytes": 7})

    assert shown(node) == {'efa_tx_bytes{device="rdmap0",port="1"}': 7}


def test_counts_of_neuron_monitor_are_added_up(node: NodeRoot) -> None:
    neuron(node, REPORT, REPORT)

    found = shown(node, "mem_ecc_uncorrected.* 6")

    assert found['neuroncore_utilization_ratio{neuroncore="0",runtime_tag="7"}'] == 0.5
    assert found['execution_errors_total{error_type="hardware"}'] == 4
    device = 'neuron_runtime_memory_used_bytes{memory_location="neuron_device",runtime_tag="7"}'
    assert found[device] == 9


def test_errors_are_counted_from_before_the_first_runtime(node: NodeRoot) -> None:
    neuron(node, {**REPORT, "neuron_runtime_data": []})

    found = shown(node, "mem_ecc_uncorrected.* 3")

    assert found['execution_errors_total{error_type="hardware"}'] == 0


def test_errors_of_all_runtimes_are_one_count(node: NodeRoot) -> None:
    [first] = REPORT["neuron_runtime_data"]
    assert isinstance(first, dict)
    second = {**first, "neuron_runtime_tag": "8"}
    neuron(node, {**REPORT, "neuron_runtime_data": [first, second]})

    found = shown(node, "neuroncore")

    assert found['execution_errors_total{error_type="hardware"}'] == 4


def test_a_tag_that_a_program_chose_does_not_spoil_the_answer(node: NodeRoot) -> None:
    [runtime] = REPORT["neuron_runtime_data"]
    assert isinstance(runtime, dict)
    tag = 'a "tag"\\\n'
    neuron(node, {**REPORT, "neuron_runtime_data": [{**runtime, "neuron_runtime_tag": tag}]})

    found = shown(node, "neuroncore")

    [core] = [each for each in found if each.startswith("neuroncore_utilization_ratio")]
    assert core == (r'neuroncore_utilization_ratio{neuroncore="0",runtime_tag="a \"tag\"\\\n"}')


def test_a_monitor_that_prints_something_else_is_named(node: NodeRoot) -> None:
    neuron(node)

    done = node.run(
        *("unshare", "--net", "sh", "-c", f"{LOOPBACK_UP}; timeout 30 /opt/trainshed/exporter")
    )

    assert done.returncode == 1
    assert done.stderr == (
        "trainshed: ERROR: neuron-monitor: printed no report that is known: ; run it by hand\n"
    )


@pytest.mark.parametrize(
    "report",
    [
        "null",
        "[]",
        '{"neuron_runtime_data": [{}]}',
        '{"neuron_runtime_data": [{"neuron_runtime_tag": "7", "report": {"neuroncore_counters": '
        '{"neuroncores_in_use": {"0": {}}}}}]}',
    ],
)
def test_a_report_in_another_form_is_shown(report: str) -> None:
    with pytest.raises(NodeError) as raised:
        NeuronReports().take([f"{report}\n"])

    assert f"no report that is known: {report};" in str(raised.value)


def test_a_group_with_an_error_leaves_out_its_series(node: NodeRoot) -> None:
    failed = {"neuron_runtime_tag": "7", "error": "gone", "report": None}
    neuron(node, REPORT, {**REPORT, "neuron_runtime_data": [failed]})

    found = shown(node, "mem_ecc_uncorrected.* 6")

    assert not [each for each in found if each.startswith("neuroncore")]


def test_each_metric_of_the_project_comes_out_of_it(node: NodeRoot) -> None:
    names = ("tx_bytes", "rx_bytes", "rx_drops", "retrans_timeout_events")
    events = ("impaired_remote_conn_events", "unresponsive_remote_events")
    efa(node, "rdmap0", dict.fromkeys((*names, *events), 1))
    gaudi(node, "0, 78, 512, 41, 100, 3")
    gpus(node, "00000000:53:00.0, 97, 71234, 61, 512.37, 2", "00000000:53:00.0, 0, 0")
    neuron(node, REPORT)

    found = shown(node, "neuroncore")

    assert {each.name for each in exported(OURS)} <= {each.partition("{")[0] for each in found}


def test_a_device_that_fails_is_an_error_of_the_answer(node: NodeRoot) -> None:
    node.command("hl-smi", "echo no device >&2; exit 1")

    done = answered(node)

    assert "500" in done.stdout
    assert "trainshed: ERROR: hl-smi: no device" in done.stderr


@pytest.mark.parametrize("metrics", [habana_metrics, nvidia_metrics.nvidia_metrics])
def test_the_agent_waits_longer_than_tools_that_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metrics: Callable[[], Iterator[Series]]
) -> None:
    for name in ("hl-smi", "nvidia0"):
        (tmp_path / name).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(nvidia_metrics, "_DEVICES", tmp_path)
    waited = list[float]()

    def run(*_: str, timeout: float) -> Finished:
        waited.append(timeout)
        return Finished(0, "", "")

    monkeypatch.setattr(tool_tables, "run", run)
    assert not [*metrics()]

    agent = prometheus_configuration()["global"]["scrape_timeout"]
    assert 0 < sum(waited) < float(agent.removesuffix("s"))

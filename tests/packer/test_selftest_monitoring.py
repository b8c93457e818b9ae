"""What the self-test says about the exporters and the CloudWatch agent of an AMI.

systemd is a stand-in; the exporter is the AMI's own, or a server that answers as one that is ill.
"""

import json
import shutil
from pathlib import Path

import pytest
from node_root import LOOPBACK_UP, RECIPES, NodeRoot, needs_namespaces

from trainshed.metrics.agent import prometheus_configuration
from trainshed.metrics.exporters import DCGM, OURS

pytestmark = needs_namespaces

BASE = "amazon-linux-2023"
OF_OURS, OF_DCGM, AGENT = f"exporter {OURS.name}", f"exporter {DCGM.name}", "agent of metrics"
# Fits `unit state` lines: what is-enabled and is-active say of units.
SYSTEMCTL = """
unit=${2%.service}
case $1 in
  is-enabled) sed -n "s/^$unit //p" /units/enabled ;;
  is-active) sed -n "s/^$unit //p" /units/active | head -1 ;;
esac
"""
REFUSES = """
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(500)
http.server.HTTPServer(("127.0.0.1", %d), Answer).serve_forever()
"""


@pytest.fixture
def machine(tmp_path: Path) -> NodeRoot:
    """An nvidia machine for ECS, with a GPU, whose exporters wait for the first boot."""
    made = NodeRoot.make(tmp_path)
    pin(made, "ecs")
    made.plug(1, vendor="0x10de", device="0x2330", kind="0x030200")
    made.command("systemctl", SYSTEMCTL)
    # No package of these is installed, which is another test's matter.
    made.command("rpm", "exit 1")
    made.write("units/enabled", f"{OURS.name} static\n{DCGM.name} disabled\n")
    made.write("units/active", f"{OURS.name} active\namazon-cloudwatch-agent active\n")
    return made


def pin(machine: NodeRoot, agent: str) -> None:
    recipe = json.loads((RECIPES / f"nvidia-{agent}-{BASE}.json").read_text())
    components = {k: v for k, v in recipe["components"].items() if k == DCGM.name}
    machine.pin(components, {"accelerator": "nvidia", "orchestrator": agent, "base": BASE})


def with_monitoring(machine: NodeRoot, *exporters: str) -> None:
    """Have the agent read some exporters, as the first boot does."""
    configuration = prometheus_configuration()
    configuration["scrape_configs"] = [
        each for each in configuration["scrape_configs"] if each["job_name"] in exporters
    ]
    machine.write("etc/trainshed/prometheus.yaml", json.dumps(configuration))


def results(machine: NodeRoot, exporter: str = "true", stage: str = "boot") -> dict[str, str]:
    """What it says of each, in a network of its own where a command runs beside."""
    done = machine.run(
        *("unshare", "--net", "sh", "-c"),
        f"{LOOPBACK_UP}; {exporter} & "
        f"/opt/trainshed/selftest --json --stage {stage}; kill $! 2>/dev/null",
    )
    named = ("metrics", OF_OURS, OF_DCGM, AGENT)
    return {
        each["name"]: each["detail"] or each["state"]
        for each in json.loads(done.stdout)["components"]
        if each["name"] in named
    }


@pytest.mark.parametrize("stage", ["bake", "boot"])
def test_exporters_that_wait_for_the_first_boot_are_good(machine: NodeRoot, stage: str) -> None:
    assert results(machine, stage=stage) == {"metrics": "ok", OF_OURS: "ok", OF_DCGM: "ok"}


def test_an_ami_for_eks_has_no_exporter_of_nvidias(machine: NodeRoot) -> None:
    pin(machine, "eks-1.35")

    assert OF_DCGM not in results(machine, stage="bake")


def test_an_exporter_that_is_not_there_or_would_always_run_fails(machine: NodeRoot) -> None:
    machine.write("units/enabled", f"{DCGM.name} enabled\n")

    found = results(machine, stage="bake")

    assert found[OF_OURS] == "is not there"
    assert found[OF_DCGM] == "is enabled, and would run without monitoring"


def test_an_exporter_that_a_user_of_the_ami_enabled_is_good(machine: NodeRoot) -> None:
    machine.write("units/enabled", f"{OURS.name} static\n{DCGM.name} enabled\n")

    assert results(machine)[OF_DCGM] == "ok"


def test_the_configurations_that_the_first_boot_fills_in_have_to_be_there(
    machine: NodeRoot,
) -> None:
    (machine.path / "etc/trainshed/monitoring/agent.json").unlink()

    assert results(machine)["metrics"] == "there is no agent.json in /etc/trainshed/monitoring"


def test_on_a_node_with_monitoring_the_exporter_answers_and_the_agent_runs(
    machine: NodeRoot,
) -> None:
    pin(machine, "eks-1.35")
    with_monitoring(machine, OURS.name)

    assert results(machine, "/opt/trainshed/exporter") == {
        "metrics": "ok",
        OF_OURS: "ok",
        AGENT: "ok",
    }


def test_dcgms_exporter_has_to_run_where_a_gpu_is(machine: NodeRoot) -> None:
    with_monitoring(machine, OURS.name, DCGM.name)

    found = results(machine, "/opt/trainshed/exporter")

    assert found[OF_DCGM] == f"is unknown; see journalctl --unit {DCGM.name}"


def test_exporters_of_a_machine_without_the_accelerator_are_not_asked(machine: NodeRoot) -> None:
    with_monitoring(machine, OURS.name, DCGM.name)
    shutil.rmtree(machine.path / "sys/bus/pci/devices")

    found = results(machine)

    assert found[OF_OURS] == found[OF_DCGM] == "this machine has no nvidia device"


def test_an_exporter_that_answers_with_an_error_fails(machine: NodeRoot) -> None:
    with_monitoring(machine, OURS.name, DCGM.name)
    machine.write("refuses", REFUSES % OURS.port)

    assert results(machine, "python3 /refuses")[OF_OURS] == (
        f"answers 500 on 127.0.0.1:{OURS.port}; see journalctl --unit {OURS.name}"
    )


def test_an_exporter_that_ends_before_it_listens_fails(machine: NodeRoot) -> None:
    with_monitoring(machine, OURS.name, DCGM.name)
    ends = "test ! -e /asked && touch /asked && echo active || echo failed"
    machine.command(
        "systemctl",
        f'case "$*" in "is-active {OURS.name}.service") {ends}; exit ;; esac\n{SYSTEMCTL}',
    )

    assert results(machine)[OF_OURS] == f"is failed; see journalctl --unit {OURS.name}"


def test_an_agent_that_does_not_run_or_that_reads_too_little_fails(machine: NodeRoot) -> None:
    with_monitoring(machine, OURS.name)
    machine.write("units/active", f"{OURS.name} active\n")

    found = results(machine, "/opt/trainshed/exporter")

    assert found[AGENT] == ("is unknown; see journalctl --unit amazon-cloudwatch-agent.service")
    assert found[OF_DCGM] == ("/etc/trainshed/prometheus.yaml does not have the agent read it")

"""A node without a job finds out that a device is lost, and takes no more jobs."""

import json
import shlex
from pathlib import Path

import pytest
from cluster_node import EFA, INSTANCE, SYSTEMCTL, Boot, ClusterNode
from node_root import LOOPBACK_UP, needs_namespaces

from trainshed_node.idle import _device

pytestmark = needs_namespaces

CHECK = "/opt/trainshed/idle-check"
MARK = "run/trainshed/unfit/mark"
# Answers as ECS's agent does, in a network of its own.
AGENT = """
import http.server, sys
class Agent(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(sys.argv[1].encode())
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 51678), Agent)
print("listens", flush=True)
server.serve_forever()
"""
# A pipe with a name: the node has no /dev/fd.
WITH_AGENT = """
mkfifo /tmp/listens
python3 /tmp/agent.py '{tasks}' >/tmp/listens &
read -r </tmp/listens
"""
# A job is there when its command is.
WITH_JOB = """
bash -c '{job}' &
until grep -qs sleep /proc/$!/comm; do :; done
{check}
"""


@pytest.fixture
def machine(tmp_path: Path) -> ClusterNode:
    """A node that has booted well, without ECS."""
    made = ClusterNode.healthy(tmp_path)
    made.command("systemctl", f'case "$*" in is-active*) exit 3 ;; esac\n{SYSTEMCTL}')
    (made.path / "run/trainshed/unfit").mkdir(parents=True)
    made.write("run/trainshed/boot.json", "{}")
    return made


def is_marked(machine: ClusterNode) -> bool:
    return (machine.path / MARK).exists()


def assert_stays(machine: ClusterNode, checked: Boot) -> None:
    assert (checked.code, checked.tag, checked.metrics) == (0, None, [])
    assert not is_marked(machine)


def test_a_node_that_is_well_stays(machine: ClusterNode) -> None:
    assert_stays(machine, machine.boot(CHECK))


def test_a_node_that_has_lost_a_device_says_so_and_powers_off(machine: ClusterNode) -> None:
    machine.unplug(EFA, 7)

    checked = machine.boot(CHECK)

    assert checked.code == 1
    said = f"{INSTANCE}: takes no job: 7 of 8 efa devices are on the PCI bus"
    assert f"ERROR: {said}" in checked.error
    assert checked.tag is not None
    assert checked.tag.startswith(f"failed: {said}")
    # It did not fail to boot.
    assert checked.metrics == []
    assert is_marked(machine)


@pytest.mark.parametrize(
    "job",
    [
        "exec -a trainshed-run-job sleep 60",
        "exec -a /opt/trainshed/trainshed-launch sleep 60",
        "exec sleep 60 3</dev/neuron3",
    ],
)
def test_a_node_with_a_job_is_not_checked(machine: ClusterNode, job: str) -> None:
    machine.unplug(EFA, 7)

    checked = machine.boot(WITH_JOB.format(job=job, check=CHECK))

    assert_stays(machine, checked)
    assert any("not checked: process " in line for line in checked.lines)


def test_a_process_that_closes_other_files_meanwhile_holds_its_device(tmp_path: Path) -> None:
    held = tmp_path / "fd"
    held.mkdir()
    # As a descriptor that is gone, it cannot be read as a link.
    for number in range(9):
        (held / str(number)).touch()
    (held / "9").symlink_to("/dev/neuron3")

    assert _device(tmp_path) == "/dev/neuron3"


def test_a_node_of_kubernetes_is_left_to_eks(machine: ClusterNode) -> None:
    machine.unplug(EFA, 7)
    machine.joins("1.35")

    assert_stays(machine, machine.boot(CHECK))


def test_a_node_of_no_cluster_is_not_checked(machine: ClusterNode) -> None:
    machine.unplug(EFA, 7)
    machine.write("etc/trainshed/first-boot.json", "{}")

    assert_stays(machine, machine.boot(CHECK))


@pytest.mark.parametrize(
    ("tasks", "busy"),
    [
        ([{"Arn": "arn:task/1", "KnownStatus": "RUNNING"}], "task arn:task/1 runs"),
        ([{"Arn": "arn:task/1", "KnownStatus": "STOPPED"}], None),
        ([], None),
        (None, "the ECS agent does not say whether it has tasks"),
    ],
    ids=["runs", "has run", "none", "no answer"],
)
def test_the_tasks_of_ecs_count(
    machine: ClusterNode, tasks: list[dict[str, str]] | None, busy: str | None
) -> None:
    machine.command("systemctl", SYSTEMCTL)
    machine.unplug(EFA, 7)
    machine.write("tmp/agent.py", AGENT)
    asked = WITH_AGENT.format(tasks=json.dumps({"Tasks": tasks})) if tasks is not None else ""
    script = f"{LOOPBACK_UP}\n{asked}\n{CHECK}"

    checked = machine.boot(f"unshare --net bash -e -c {shlex.quote(script)}")

    refused = [line.partition("not checked: ")[2] for line in checked.lines]
    assert [line for line in refused if line] == ([busy] if busy else [])
    assert is_marked(machine) is (busy is None)

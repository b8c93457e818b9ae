"""The addresses of the other nodes, on plain EC2 nodes."""

import json
from pathlib import Path

import pytest
from cluster_node import ClusterNode
from node_root import needs_namespaces

pytestmark = needs_namespaces

# `aws ec2 describe-instances --query ...`: the launch time is ISO 8601 text.
NODES = [["2026-11-02T10:00:01+00:00", "10.0.0.9"], ["2026-11-02T10:00:00+00:00", "10.0.0.12"]]


@pytest.fixture
def machine(tmp_path: Path) -> ClusterNode:
    machine = ClusterNode.healthy(tmp_path)
    answer = f"cat <<'EOF'\n{json.dumps(NODES)}\nEOF"
    machine.command("aws", f'printf "%s\\n" "$@" >/run/asked; {answer}')
    return machine


def test_the_oldest_node_is_first(machine: ClusterNode) -> None:
    done = machine.run("/opt/trainshed/hosts")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    hosts = machine.path / "etc/trainshed/hosts"
    assert hosts.read_text() == "10.0.0.12\n10.0.0.9\n"
    # Everybody may start a job by hand.
    assert hosts.stat().st_mode & 0o777 == 0o644
    asked = (machine.path / "run/asked").read_text().splitlines()
    assert "Name=tag:trainshed:cluster,Values=Train" in asked
    assert "Name=tag:trainshed:boot,Values=ok" in asked
    assert "Name=instance-state-name,Values=running" in asked


def test_without_an_answer_the_file_stays(machine: ClusterNode) -> None:
    machine.write("etc/trainshed/hosts", "10.0.0.1\n")
    machine.command("aws", "echo 'You are not authorized' >&2; exit 254")

    done = machine.run("/opt/trainshed/hosts")

    assert done.returncode == 1
    assert done.stderr == (
        "trainshed: ERROR: /etc/trainshed/hosts: EC2 did not list the nodes (You are not "
        "authorized); it stays as it is\n"
    )
    assert (machine.path / "etc/trainshed/hosts").read_text() == "10.0.0.1\n"


def test_the_node_of_no_cluster_asks_nobody(machine: ClusterNode) -> None:
    machine.write("etc/trainshed/first-boot.json", "{}")

    done = machine.run("/opt/trainshed/hosts")

    assert done.returncode == 0
    assert not (machine.path / "etc/trainshed/hosts").exists()
    assert not (machine.path / "run/asked").exists()

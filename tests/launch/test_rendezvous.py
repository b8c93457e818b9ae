"""What AWS Batch, Slurm, Kubernetes and a hosts file say about the nodes of a job."""

import socket
from pathlib import Path

import pytest

from trainshed_launch.channel import address_of
from trainshed_launch.errors import LaunchError
from trainshed_launch.rendezvous import Rendezvous, read_rendezvous

BATCH = {
    "AWS_BATCH_JOB_ID": "0000-1111#2",
    "AWS_BATCH_JOB_ATTEMPT": "1",
    "AWS_BATCH_JOB_NUM_NODES": "4",
    "AWS_BATCH_JOB_NODE_INDEX": "2",
    "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
    "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "10.0.0.7",
}
MAIN = "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"
# scontrol(1): `show hostnames` expands a list of nodes, a name on each line.
SCONTROL = """#!/bin/sh
[ "$*" = "show hostnames p5-[1-3]" ] || { echo "Invalid hostlist: $3" >&2; exit 1; }
printf 'p5-1\\np5-2\\np5-3\\n'
"""
SLURM = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_JOB_NODELIST": "p5-[1-3]"}
KUBERNETES = {"JOB_COMPLETION_INDEX": "0", "TRAINSHED_NODES": "8", "TRAINSHED_ATTEMPT": "0"}


@pytest.fixture
def scontrol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "scontrol"
    program.write_text(SCONTROL, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def pod(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(socket, "getfqdn", lambda: name)


def test_batch_says_it_all() -> None:
    assert read_rendezvous(BATCH) == Rendezvous(
        source="AWS Batch", nodes=4, index=2, main="10.0.0.7", job="0000-1111/1", pulls_image=True
    )


def test_batch_gives_the_main_node_no_address_of_its_own() -> None:
    found = read_rendezvous(
        {name: value for name, value in BATCH.items() if name != MAIN}
        | {"AWS_BATCH_JOB_NODE_INDEX": "0", "AWS_BATCH_JOB_ID": "0000-1111#0"}
    )

    assert found.is_main
    # The same job as the other nodes', whose ids differ.
    assert (found.main, found.job) == (None, read_rendezvous(BATCH).job)


def test_a_job_of_batch_with_one_container_has_one_node() -> None:
    variables = {"AWS_BATCH_JOB_ID": "0000-1111", "AWS_BATCH_JOB_ATTEMPT": "2"}

    found = read_rendezvous(variables | {"AWS_BATCH_CE_NAME": "nodes"})

    assert (found.nodes, found.index, found.is_main) == (1, 0, True)


def test_another_attempt_is_another_job() -> None:
    again = read_rendezvous(BATCH | {"AWS_BATCH_JOB_ATTEMPT": "2"})

    assert again.job != read_rendezvous(BATCH).job


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({MAIN: ""}, f"AWS Batch gives node 2 no {MAIN}"),
        ({"AWS_BATCH_JOB_NODE_INDEX": "4"}, "this is node 4 of 4; nodes count from 0"),
        ({"AWS_BATCH_JOB_NUM_NODES": "four"}, "AWS_BATCH_JOB_NUM_NODES to 'four', not to a number"),
    ],
)
def test_what_batch_never_says_is_refused(changes: dict[str, str], said: str) -> None:
    with pytest.raises(LaunchError, match=said):
        read_rendezvous(BATCH | changes)


@pytest.mark.usefixtures("scontrol")
def test_slurm_lists_the_nodes() -> None:
    assert read_rendezvous(SLURM | {"SLURM_NODEID": "1"}) == Rendezvous(
        source="Slurm", nodes=3, index=1, main="p5-1", job="7.0"
    )


@pytest.mark.usefixtures("scontrol")
def test_a_list_that_slurm_does_not_know_is_quoted() -> None:
    with pytest.raises(LaunchError, match=r"scontrol cannot list p5-\[: Invalid hostlist"):
        read_rendezvous(SLURM | {"SLURM_NODEID": "1", "SLURM_JOB_NODELIST": "p5-["})


def test_kubernetes_names_pods_by_their_index(monkeypatch: pytest.MonkeyPatch) -> None:
    pod(monkeypatch, "bert-3.nodes.default.svc.cluster.local")

    found = read_rendezvous(KUBERNETES | {"JOB_COMPLETION_INDEX": "3"})

    assert (found.nodes, found.index) == (8, 3)
    assert (found.main, found.job) == ("bert-0.nodes.default.svc.cluster.local", "bert/0")


def test_the_main_pod_belongs_to_the_same_job(monkeypatch: pytest.MonkeyPatch) -> None:
    pod(monkeypatch, "bert-0.nodes.default.svc.cluster.local")

    found = read_rendezvous(KUBERNETES)
    again = read_rendezvous(KUBERNETES | {"TRAINSHED_ATTEMPT": "1"})

    assert (found.is_main, found.job) == (True, "bert/0")
    assert again.job != found.job


def test_a_pod_that_shares_the_machine_has_its_name_from_a_file(tmp_path: Path) -> None:
    names = tmp_path / "hosts"
    domain = "nodes.default.svc.cluster.local"
    names.write_text(
        f"127.0.0.1 localhost\n# others\n127.80.0.2 bert-1.{domain} bert-1\n"
        f"127.80.0.1 bert-0.{domain}\n"
    )
    here = {"EMBEDDED_AWS_ADDRESS": "127.80.0.2", "EMBEDDED_AWS_NAMES": str(names)}

    found = read_rendezvous(KUBERNETES | {"JOB_COMPLETION_INDEX": "1"} | here)

    assert found.main == f"bert-0.{domain}"
    assert address_of(found.main, here) == "127.80.0.1"
    assert address_of("elsewhere", here) == "elsewhere"


@pytest.mark.parametrize(
    ("name", "environment", "said"),
    [
        ("bert-3", {"TRAINSHED_NODES": "8"}, "set the subdomain"),
        ("bert-3-x7k2p.nodes.default", {"TRAINSHED_NODES": "8"}, "not JOB-3.SERVICE"),
        ("bert-3.nodes.default", {}, "TRAINSHED_NODES to ''"),
    ],
)
def test_pods_that_cannot_find_each_other_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, environment: dict[str, str], said: str
) -> None:
    pod(monkeypatch, name)

    with pytest.raises(LaunchError, match=said):
        read_rendezvous({"JOB_COMPLETION_INDEX": "3"} | environment)


def test_a_hosts_file_names_this_node_by_an_address_of_it(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    # 192.0.2.0/24 is for documents: no machine has it.
    hosts.write_text("# main first\n192.0.2.1 one\n127.0.0.1 two\n\n192.0.2.3\n", encoding="utf-8")

    found = read_rendezvous(BATCH, hosts)

    assert (found.source, found.nodes, found.index, found.main) == (str(hosts), 3, 1, "192.0.2.1")


def test_nodes_that_share_a_machine_know_their_own_line(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("127.80.0.1\n127.80.0.2\n", encoding="utf-8")

    found = read_rendezvous({"EMBEDDED_AWS_ADDRESS": "127.80.0.2"}, hosts)

    assert found.index == 1


def test_the_same_nodes_run_one_job_after_the_other(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1\n192.0.2.3\n", encoding="utf-8")

    first, second = (read_rendezvous({"TRAINSHED_JOB": job}, hosts).job for job in ("1", "2"))

    assert first != second


@pytest.mark.parametrize("lines", ["192.0.2.1\n", "127.0.0.1\n127.0.0.2\n", ""])
def test_a_hosts_file_names_this_node_once(tmp_path: Path, lines: str) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text(lines, encoding="utf-8")

    with pytest.raises(LaunchError, match="needs one line for each node"):
        read_rendezvous({}, hosts)


def test_a_hosts_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="none cannot be read: No such file"):
        read_rendezvous({}, tmp_path / "none")


def test_without_an_orchestrator_there_is_one_node() -> None:
    assert read_rendezvous({}) == Rendezvous(source="no orchestrator", nodes=1, index=0)

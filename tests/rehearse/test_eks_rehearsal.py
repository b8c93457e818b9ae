"""Rehearsals on Amazon EKS: a real API server, JobSet's and Kueue's own managers, nodes that go."""

import re
from pathlib import Path

import pytest
from command_line import runner
from ordinary_user import ordinary_user

from embedded_aws.hosts.network import namespaces_unavailable
from embedded_aws.kubernetes.cache import unavailable
from trainshed.cli import main
from trainshed.errors import TrainshedError
from trainshed.orchestrators.eks.faulty_node import agents_reason
from trainshed.ready_jobs import Work
from trainshed.rehearse.faults import FaultKind
from trainshed.rehearse.kubernetes import check_machine
from trainshed.rehearse.rehearsal import Rehearsal, Stages, rehearse
from trainshed.rehearse.workplace import workplace

pytestmark = pytest.mark.server
BLOCK = "zone: usw2-az4\ncapacity: {capacity_block: cr-0123456789abcdef0}\n"
STEPS = '[ "$TRAINSHED_ATTEMPT" = 0 ] || exit 0; echo step; exec sleep 600'


@pytest.fixture
def machine() -> None:
    """One that can have such a rehearsal."""
    if reason := unavailable() or namespaces_unavailable():
        pytest.skip(reason)


@pytest.mark.usefixtures("machine", "eks_project")
def test_a_node_that_goes_has_all_nodes_start_again() -> None:
    printed: list[str] = []
    work = Work(command=("trainshed-launch", "sh", "-c", STEPS))
    with workplace() as place:
        result = rehearse(
            Rehearsal(cluster="KubeCluster", nodes=2, work=work, fault=FaultKind.TERMINATE_HOST),
            place,
            stages=Stages(printed.append),
            seen=lambda _, lines: printed.extend(lines),
        )
        place.log.unlink()

    assert (result.job.status, len(result.job.attempts)) == ("Completed", 2), printed
    assert "chart jobset 0.12.0: created" in printed
    assert "chart kueue 0.19.2: created" in printed
    assert any("is lost" in line for line in printed)
    assert "all nodes start again" in result.expected
    # Kubernetes has deleted the pods of the first attempt.
    assert [len(node.attempts) for node in result.job.nodes] == [2, 2]
    assert "apply what Kubernetes needs" in result.seconds


@pytest.mark.usefixtures("machine", "eks_project")
def test_a_node_that_loses_its_devices_under_a_job_is_named_and_replaced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner("trainshed", main, capsys, monkeypatch)
    command = ("trainshed-launch", "sh", "-c", STEPS)

    answer = run("rehearse", "KubeCluster", "--fault", "lost-device", "--", *command)

    # Both attempts that there are more would be lost on the node that powers off.
    assert answer.code == 0, answer.out + answer.err
    assert "the job has Completed after 2 attempts" in answer.out
    assert re.search(
        r"node 1 \([\d.]+\) lost a device while the command ran: 0 of 8 efa devices are on the PCI "
        r"bus; .* i-\w+ goes down",
        answer.out,
    )


@pytest.mark.usefixtures("machine", "eks_project")
def test_a_job_runs_when_eks_has_replaced_a_node_that_its_agent_finds_faulty(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner("trainshed", main, capsys, monkeypatch)

    answer = run("rehearse", "KubeCluster", "--fault", "unfit-node", "--", "true")

    assert answer.code == 0, answer.out + answer.err
    assert "the job has Completed after 1 attempt" in answer.out
    assert "expected with unfit-node: EKS drains and replaces the node" in answer.out


@pytest.mark.usefixtures("machine", "eks_project")
def test_a_job_is_told_and_starts_again_when_eks_exchanges_its_nodes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner("trainshed", main, capsys, monkeypatch)
    script = (
        '[ "$TRAINSHED_ATTEMPT" = 0 ] || exit 0; '
        "trap 'echo told; exit 0' TERM; echo step; sleep 600 & wait"
    )
    command = ("trainshed-launch", "sh", "-c", script)

    answer = run("rehearse", "KubeCluster", "--fault", "changed-ami", "--", *command)

    assert answer.code == 0, answer.out + answer.err
    assert "told" in answer.out.splitlines()
    # The second node may go while the second attempt runs.
    assert re.search(r"the job has Completed after [23] attempts", answer.out)


@pytest.mark.usefixtures("machine", "eks_project")
@pytest.mark.parametrize("eks_project", [BLOCK], indirect=True)
def test_a_job_whose_block_ends_is_told_and_waits_for_nodes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner("trainshed", main, capsys, monkeypatch)
    script = "trap 'echo told; exit 0' TERM; echo step; sleep 600 & wait"
    command = ("trainshed-launch", "sh", "-c", script)

    answer = run("rehearse", "KubeCluster", "--fault", "block-end", "--", *command)

    assert answer.code == 1, answer.out + answer.err
    assert "told" in answer.out.splitlines()
    # Whether the nodes are gone by then, nobody knows.
    count = r"(0 exist|(\d) exist, \2 of them cordoned)"
    assert re.search(rf"why: TS-JOB-034 .*the job needs 2 nodes, {count}", answer.out), answer.out
    assert "the rehearsal has seen why it waits" in answer.out


@pytest.mark.usefixtures("machine", "eks_project")
def test_the_command_says_to_an_ordinary_user_how_each_node_ended(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = runner("trainshed", main, capsys, monkeypatch)
    command = ("rehearse", "KubeCluster", "--fault", "kill-child", "--", "sh", "-c", STEPS)

    with ordinary_user(tmp_path):
        answer = run(*command)

    # The main node's pod may be deleted before it has ended by itself.
    assert answer.code in (137, 197)
    assert "step" in answer.out
    assert "expected with kill-child: node 1 ends with exit code 137" in answer.out
    assert "failed with exit code 137 matching FailJob rule" in answer.out


@pytest.mark.usefixtures("machine", "eks_project")
@pytest.mark.parametrize(
    ("fault", "found"),
    [
        pytest.param(
            "insufficient-capacity",
            {
                "TS-JOB-034": "the job needs 2 nodes, 1 exist; submit it with --nodes 1",
                "TS-JOB-035": "AsgInstanceLaunchFailures: Could not launch On-Demand Instances. "
                "InsufficientInstanceCapacity - We currently do not have sufficient capacity",
            },
            id="insufficient-capacity",
        ),
        pytest.param(
            "missing-image",
            {"TS-JOB-037": 'ErrImagePull: Failed to pull image "123456789012.dkr.ecr.us-west-2'},
            id="missing-image",
        ),
        pytest.param(
            "missing-device",
            {
                "TS-JOB-034": 'excluded: resource "aws.amazon.com/neuron": 2; the job needs 2 '
                "nodes, 2 exist; see what each node has: trainshed kube nodes CLUSTER",
                "TS-JOB-036": "aws.amazon.com/neuron is 0, and a pod of the job asks for 16; its "
                "device plugin does not run there: trainshed kube apply",
            },
            id="missing-device",
        ),
    ],
)
def test_a_job_that_waits_is_explained_and_ended(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    found: dict[str, str],
) -> None:
    run = runner("trainshed", main, capsys, monkeypatch)

    answer = run("rehearse", "KubeCluster", "--fault", fault, "--", "true")

    assert answer.code == 1, answer.err
    for rule, words in found.items():
        [said, *_] = [line for line in answer.out.splitlines() if f"why: {rule} " in line]
        assert words in said
        assert rule in answer.out.partition(f"expected with {fault}: ")[2] or rule == "TS-JOB-034"
    assert "the job has Suspended after 1 attempt: the rehearsal has seen why it waits" in (
        answer.out
    )


def test_faults_that_the_agent_does_not_see_are_refused() -> None:
    with pytest.raises(TrainshedError, match=r"knows no habana accelerators, which Any has"):
        agents_reason("Any", "dl1.24xlarge")


def test_a_machine_that_cannot_have_one_is_told_why() -> None:
    with pytest.raises(TrainshedError, match=r"needs JobSet's manager.*: leave out --loopback"):
        check_machine(loopback=True)

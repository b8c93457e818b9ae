"""What each node runs: the user's command, with what its launcher needs to know."""

from pathlib import Path

import pytest

from trainshed_launch.command import Nodes, node_command, runs_on_main_only

NODES = Nodes(addresses=("10.0.0.7", "10.0.0.8"), rank=1, processes=8)
TORCHRUN = [
    "--nnodes=2",
    "--node-rank=1",
    "--master-addr=10.0.0.7",
    "--master-port=29500",
]


@pytest.fixture
def mpirun(tmp_path: Path) -> Path:
    """An Open MPI's mpirun, as far as it says its version."""
    program = tmp_path / "mpirun"
    program.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.1.7'\n", encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.fixture
def mpiexec(tmp_path: Path) -> Path:
    """An MPICH's mpiexec, as far as it says its version."""
    program = tmp_path / "mpiexec"
    program.write_text("#!/bin/sh\nprintf 'HYDRA build details:\\n'\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def test_a_plain_command_stays_as_it_is(tmp_path: Path) -> None:
    command = ["python", "train.py", "--nnodes", "5"]

    assert node_command(command, NODES, tmp_path) == command
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "start",
    [
        ["torchrun"],
        ["/opt/venv/bin/torchrun"],
        ["python3", "-m", "torch.distributed.run"],
        ["python3", "-u", "-m", "torch.distributed.run"],
    ],
)
def test_torchrun_learns_where_the_main_node_is(start: list[str], tmp_path: Path) -> None:
    rest = ["--nproc-per-node", "8", "train.py", "--rank", "x"]

    assert node_command(start + rest, NODES, tmp_path) == start + TORCHRUN + rest


def test_what_the_user_says_wins(tmp_path: Path) -> None:
    command = ["torchrun", "--nnodes=1", "--master_port", "12345", "train.py"]

    assert node_command(command, NODES, tmp_path) == [
        "torchrun",
        "--node-rank=1",
        "--master-addr=10.0.0.7",
        *command[1:],
    ]


def test_what_follows_the_script_belongs_to_the_script(tmp_path: Path) -> None:
    command = ["torchrun", "train.py", "--node-rank", "x"]

    assert node_command(command, NODES, tmp_path)[1:5] == TORCHRUN


def test_deepspeed_starts_on_each_node_without_ssh(tmp_path: Path) -> None:
    found = node_command(["deepspeed", "train.py"], NODES, tmp_path)

    assert found == [
        "deepspeed",
        "--no_ssh",
        f"--hostfile={tmp_path / 'hosts'}",
        "--node_rank=1",
        "--master_addr=10.0.0.7",
        "--master_port=29500",
        "train.py",
    ]
    assert (tmp_path / "hosts").read_text() == "10.0.0.7 slots=8\n10.0.0.8 slots=8\n"


def test_open_mpi_gets_slots(mpirun: Path, tmp_path: Path) -> None:
    found = node_command([str(mpirun), "-n", "16", "a.out"], NODES, tmp_path)

    assert found == [str(mpirun), "--hostfile", str(tmp_path / "hosts"), "-n", "16", "a.out"]
    assert (tmp_path / "hosts").read_text() == "10.0.0.7 slots=8\n10.0.0.8 slots=8\n"


def test_mpich_gets_its_own_form(mpiexec: Path, tmp_path: Path) -> None:
    found = node_command([str(mpiexec), "-n", "16", "a.out"], NODES, tmp_path)

    assert found[1:3] == ["-f", str(tmp_path / "hosts")]
    assert (tmp_path / "hosts").read_text() == "10.0.0.7:8\n10.0.0.8:8\n"


@pytest.mark.parametrize("option", ["--hostfile", "-H"])
def test_hosts_of_the_user_are_left_alone(option: str, mpirun: Path, tmp_path: Path) -> None:
    command = [str(mpirun), "-n", "2", "--map-by", "node", option, "mine", "true"]

    assert node_command(command, NODES, tmp_path) == command


def test_options_of_the_program_are_none_of_mpirun(
    mpirun: Path, mpiexec: Path, tmp_path: Path
) -> None:
    # nccl-tests has -f, too: the factor between sizes.
    for program in (mpirun, mpiexec):
        command = [str(program), "-n", "16", "true", "-b", "8", "-f", "2", "-H", "x"]

        assert node_command(command, NODES, tmp_path)[3:] == command[1:]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["mpirun", "a.out"], True),
        (["/opt/amazon/openmpi/bin/mpiexec", "a.out"], True),
        (["torchrun", "train.py"], False),
        (["echo", "mpirun"], False),
    ],
)
def test_mpirun_starts_its_processes_itself(command: list[str], expected: bool) -> None:
    assert runs_on_main_only(command) is expected

"""What each node runs: the command, with what its launcher needs to know of the nodes."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from shutil import which

# torchrun's own default.
MASTER_PORT = 29500

_MPI = ("mpirun", "mpiexec")
_TORCHRUN = ("torchrun",)
_DEEPSPEED = ("deepspeed",)
# By which users name hosts themselves: of Open MPI, of Hydra (MPICH and Intel MPI).
_HOSTS = {
    False: {"--hostfile", "-hostfile", "--machinefile", "-machinefile", "--host", "-host", "-H"},
    True: {"-f", "-hosts", "-host", "-hostfile", "-machinefile"},
}
_MODULES = {"torch.distributed.run": _TORCHRUN, "deepspeed.launcher.runner": _DEEPSPEED}


@dataclass(frozen=True)
class Nodes:
    """The nodes that met.

    Attributes:
        addresses: of each node, by its rank; the main node's is the first.
        rank: of this node.
        processes: how many processes of mpirun and DeepSpeed run on each node.
    """

    addresses: tuple[str, ...]
    rank: int
    processes: int

    @property
    def environment(self) -> dict[str, str]:
        """The variables that PyTorch's launchers, and scripts, read.

        TRAINSHED_ADDRESSES is for programs that take the addresses of all nodes as arguments.
        """
        return {
            "MASTER_ADDR": self.addresses[0],
            "MASTER_PORT": str(MASTER_PORT),
            "NNODES": str(len(self.addresses)),
            "NODE_RANK": str(self.rank),
            "TRAINSHED_ADDRESSES": " ".join(self.addresses),
        }


def runs_on_main_only(command: Sequence[str]) -> bool:
    """Return whether the command itself starts its processes on the other nodes."""
    return _program(command) in _MPI


def node_command(command: Sequence[str], nodes: Nodes, folder: Path) -> list[str]:
    """Return what this node runs; options that the user gave win.

    Args:
        command: the user's.
        nodes: who takes part.
        folder: for the hosts file.
    """
    program = _program(command)
    if program in _TORCHRUN:
        return _with(
            command,
            {
                "--nnodes": str(len(nodes.addresses)),
                "--node-rank": str(nodes.rank),
                "--master-addr": nodes.addresses[0],
                "--master-port": str(MASTER_PORT),
            },
        )
    if program in _DEEPSPEED:
        # DeepSpeed documentation, "Launching without passwordless SSH": on each node by itself.
        return _with(
            command,
            {
                "--hostfile": str(_hosts_file(folder, nodes, " slots=")),
                "--node_rank": str(nodes.rank),
                "--master_addr": nodes.addresses[0],
                "--master_port": str(MASTER_PORT),
            },
            "--no_ssh",
        )
    if program in _MPI:
        return _mpi_command(command, nodes, folder)
    return list(command)


def _mpi_command(command: Sequence[str], nodes: Nodes, folder: Path) -> list[str]:
    hydra = _is_hydra(command[0])
    if len(nodes.addresses) == 1 or _HOSTS[hydra] & set(_own_options(command)):
        return list(command)
    separator = ":" if hydra else " slots="
    file = _hosts_file(folder, nodes, separator)
    return [command[0], "-f" if hydra else "--hostfile", str(file), *command[1:]]


def _own_options(command: Sequence[str]) -> Sequence[str]:
    """Return mpirun's own words: those before the program that it starts."""
    for number, (before, word) in enumerate(zip(command, command[1:]), start=1):
        # `--map-by node` means no Node.js.
        if which(word) and not before.endswith("-by"):
            return command[:number]
    return command


def mpi_environment(agent: Path) -> dict[str, str]:
    """Return the variables by which mpirun reaches the other nodes, without ssh.

    Args:
        agent: program that is called as ssh would be.
    """
    return {
        # Open MPI 4 and 5.
        "OMPI_MCA_plm_rsh_agent": str(agent),
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
        "PRTE_MCA_plm_ssh_agent": str(agent),
        "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
        # MPICH and Intel MPI.
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": str(agent),
    }


def _program(command: Sequence[str]) -> str:
    """Return the launcher's name, also of `python -m torch.distributed.run`."""
    for word, module in zip(command[:3], command[1:4]):
        if word == "-m" and module in _MODULES:
            return _MODULES[module][0]
    return Path(command[0]).name


def _with(command: Sequence[str], options: Mapping[str, str], *flags: str) -> list[str]:
    """Insert options after the launcher, unless the user gave them."""
    after = 1
    if _program(command) != Path(command[0]).name:
        after = list(command).index("-m") + 2
    own = takewhile(lambda word: not word.endswith(".py"), command)
    given = {word.partition("=")[0].replace("_", "-") for word in own if word.startswith("--")}
    added = [flag for flag in flags if flag.replace("_", "-") not in given]
    for name, value in options.items():
        if name.replace("_", "-") not in given:
            added.append(f"{name}={value}")
    return [*command[:after], *added, *command[after:]]


def _hosts_file(folder: Path, nodes: Nodes, separator: str) -> Path:
    path = folder / "hosts"
    lines = [f"{address}{separator}{nodes.processes}\n" for address in nodes.addresses]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _is_hydra(mpirun: str) -> bool:
    """Return whether mpirun is MPICH's or Intel's; Open MPI knows no file of that form."""
    try:
        said = subprocess.run([mpirun, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "HYDRA" in said.stdout or "Intel(R) MPI" in said.stdout

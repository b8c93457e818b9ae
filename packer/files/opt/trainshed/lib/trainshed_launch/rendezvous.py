"""Which node this is, of how many, and where the main node is: as the orchestrator says it."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainshed_launch.channel import ADDRESS, own_name
from trainshed_launch.errors import LaunchError
from trainshed_node.system import run


@dataclass(frozen=True)
class Rendezvous:
    """What a node knows before it has met the others.

    Attributes:
        source: who said so, for messages.
        nodes: how many nodes the job has.
        index: of this node, from 0.
        main_index: of the main node.
        main: its address or name; None on the main node itself, where AWS Batch says none.
        job: names the job and its attempt; nodes of another are refused.
        pulls_image: each node pulls the container image before it comes.
        is_drained: nodes are drained, so that what asks one to end asks not the whole job.
    """

    source: str
    nodes: int
    index: int
    main_index: int = 0
    main: str | None = None
    job: str = ""
    pulls_image: bool = False
    is_drained: bool = False

    @property
    def is_main(self) -> bool:
        """This is the main node."""
        return self.index == self.main_index


def read_rendezvous(environment: Mapping[str, str], hosts: Path | None = None) -> Rendezvous:
    """Return what AWS Batch, Slurm, Kubernetes or a hosts file says; one node when nothing does.

    Args:
        environment: of this process.
        hosts: file with an address or name in each line, the main node first. It wins.

    Raises:
        LaunchError: what they say is not complete, or contradicts itself.
    """
    if hosts:
        return _from_hosts(hosts, environment)
    for variable, read in (
        ("AWS_BATCH_JOB_NUM_NODES", _from_batch),
        ("SLURM_JOB_NODELIST", _from_slurm),
        ("JOB_COMPLETION_INDEX", _from_kubernetes),
    ):
        if variable in environment:
            found = read(environment)
            if not 0 <= found.index < found.nodes:
                raise LaunchError(
                    f"{found.source} says that this is node {found.index} of {found.nodes}; "
                    "nodes count from 0"
                )
            return found
    return Rendezvous(source="no orchestrator", nodes=1, index=0)


def _from_batch(environment: Mapping[str, str]) -> Rendezvous:
    """AWS Batch user guide, "Environment variables for multi-node parallel jobs".

    The main node's address is set on the other nodes only.
    """
    source = "AWS Batch"
    index = _number(environment, "AWS_BATCH_JOB_NODE_INDEX", source)
    main_index = _number(environment, "AWS_BATCH_JOB_MAIN_NODE_INDEX", source)
    main = environment.get("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS")
    if index != main_index and not main:
        raise LaunchError(
            f"{source} gives node {index} no AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS; "
            "leave the variables that start with AWS_BATCH as they are"
        )
    # Each node's job id ends with its number: `...#1`.
    job = environment.get("AWS_BATCH_JOB_ID", "").partition("#")[0]
    return Rendezvous(
        source=source,
        nodes=_number(environment, "AWS_BATCH_JOB_NUM_NODES", source),
        index=index,
        main_index=main_index,
        main=main,
        job=f"{job}/{environment.get('AWS_BATCH_JOB_ATTEMPT', '')}",
        pulls_image=True,
    )


def _from_slurm(environment: Mapping[str, str]) -> Rendezvous:
    """The manual of srun, "OUTPUT ENVIRONMENT VARIABLES"; one task on each node."""
    source = "Slurm"
    nodes = environment["SLURM_JOB_NODELIST"]
    names = run("scontrol", "show", "hostnames", nodes)
    if not names.ok:
        raise LaunchError(f"scontrol cannot list {nodes}: {names.last_line}")
    # A step may have fewer nodes than its job.
    listed = names.output.split()
    return Rendezvous(
        source=source,
        nodes=len(listed),
        index=_number(environment, "SLURM_NODEID", source),
        main=listed[0],
        job=f"{environment.get('SLURM_JOB_ID', '')}.{environment.get('SLURM_STEP_ID', '')}",
    )


def _from_kubernetes(environment: Mapping[str, str]) -> Rendezvous:
    """Kubernetes documentation, "Job with Pod-to-Pod Communication": an Indexed Job.

    Pods are called `JOB-INDEX` in the domain of a headless service, in each attempt. How many they
    are and which attempt it is no variable says: the pod template sets TRAINSHED_NODES and
    TRAINSHED_ATTEMPT.
    """
    source = "Kubernetes"
    index = _number(environment, "JOB_COMPLETION_INDEX", source)
    called, attempt = own_name(environment), environment.get("TRAINSHED_ATTEMPT", "")
    name, _, domain = called.partition(".")
    if index and not (domain and name.endswith(f"-{index}")):
        raise LaunchError(
            f"this pod is called {called}, not JOB-{index}.SERVICE; set the subdomain of "
            "the pod template to a headless service, and leave its hostname out"
        )
    return Rendezvous(
        source=source,
        nodes=_number(environment, "TRAINSHED_NODES", source),
        index=index,
        main=re.sub(r"-\d+$", "-0", name) + f".{domain}" if index else None,
        job="/".join((re.sub(r"-\d+$", "", name), attempt)),
        is_drained=True,
    )


def _from_hosts(path: Path, environment: Mapping[str, str]) -> Rendezvous:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise LaunchError(f"{path} cannot be read: {error.strerror}") from error
    names = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    # Nodes that share a machine, on an embedded AWS, have all of its addresses.
    own = environment.get(ADDRESS)
    here = [index for index, name in enumerate(names) if (name == own if own else _is_here(name))]
    if len(here) != 1:
        raise LaunchError(
            f"{path} names this node {len(here)} times among {len(names)}; it needs one line for "
            "each node, with an address that the node has"
        )
    return Rendezvous(
        source=str(path),
        nodes=len(names),
        index=here[0],
        main=names[0],
        # The same nodes may run one job after the other.
        job="\n".join((environment.get("TRAINSHED_JOB", ""), *names)),
    )


def _is_here(name: str) -> bool:
    """Return whether an address is one of this machine's: only those can be bound to."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as bound:
            bound.bind(address)
    except OSError:
        return False
    return True


def _number(environment: Mapping[str, str], name: str, source: str) -> int:
    value = environment.get(name, "")
    if not value.isdigit():
        raise LaunchError(f"{source} sets {name} to {value!r}, not to a number")
    return int(value)

"""Nodes of a job on this machine, each with its own loopback address."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from node_root import ENVIRONMENT, HOME, NodeRoot

ROOT = Path(__file__).parents[2]
LAUNCH = ROOT / "packer/files/opt/trainshed/trainshed-launch"
_TOO_LONG = 180


@dataclass
class Node:
    """One node's launcher.

    Attributes:
        process: the launcher.
        log: what it and its command print.
    """

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def wait(self) -> int:
        """Wait for its end; return its exit code."""
        return self.process.wait(timeout=_TOO_LONG)

    def wait_until(self, text: str) -> None:
        """Wait until it has printed a text; no longer than it runs."""
        while text not in self.said and self.process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.05)
        assert text in self.said, f"{text!r} is not in what it printed:\n{self.said}"


@dataclass
class Nodes:
    """The nodes of one job.

    Attributes:
        folder: for their logs.
        prefix: of their addresses, for instance `127.4.7.`; no other test has it.
        nodes: how many the job has.
        pods: Kubernetes starts them, and not AWS Batch.
        started: by index.
    """

    folder: Path
    prefix: str
    nodes: int
    pods: bool = False
    started: dict[int, Node] = field(default_factory=dict)

    def start(
        self,
        index: int,
        *command: str,
        wait: int | None = 30,
        options: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        machine: NodeRoot | None = None,
    ) -> Node:
        """Start the launcher of one node.

        Args:
            index: of the node; the main node is 0.
            command: for trainshed-launch.
            wait: seconds for the nodes to meet; None for what the launcher takes by itself.
            options: more of trainshed-launch.
            environment: more than the orchestrator sets.
            machine: of the node; by default this one.
        """
        log = self.folder / f"node{index}.log"
        program = (
            [*machine.enter(), f"/{HOME}/{LAUNCH.name}"] if machine else [sys.executable, LAUNCH]
        )
        path = ENVIRONMENT["PATH"] if machine else os.environ["PATH"]
        own = {"EMBEDDED_AWS_ADDRESS": f"{self.prefix}{index + 10}"}
        own |= self._of_pod(index) if self.pods else self._of_batch(index)
        waits = () if wait is None else ("--wait", str(wait))
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*program, *waits, *options, "--", *command],
                env={"PATH": path, **own, **(environment or {})},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started[index] = Node(process=process, log=log)
        return self.started[index]

    def _of_batch(self, index: int) -> dict[str, str]:
        """AWS Batch user guide, "Environment variables for multi-node parallel jobs"."""
        variables = {
            "AWS_BATCH_JOB_ID": f"11111111-2222-3333-4444-555555555555#{index}",
            "AWS_BATCH_JOB_ATTEMPT": "1",
            "AWS_BATCH_JOB_NUM_NODES": str(self.nodes),
            "AWS_BATCH_JOB_NODE_INDEX": str(index),
            "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
        }
        if index:
            variables["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] = f"{self.prefix}10"
        return variables

    def _of_pod(self, index: int) -> dict[str, str]:
        """Kubernetes, "Job with Pod-to-Pod Communication"; a file stands for its DNS."""
        names = self.folder / "names"
        lines = [f"{self.prefix}{each + 10} train-{each}.train\n" for each in range(self.nodes)]
        names.write_text("".join(lines))
        return {
            "EMBEDDED_AWS_NAMES": str(names),
            "JOB_COMPLETION_INDEX": str(index),
            "TRAINSHED_NODES": str(self.nodes),
            "TRAINSHED_ATTEMPT": "0",
        }

    def start_all(self, *command: str, options: tuple[str, ...] = ()) -> Node:
        """Start every node with one command; return the main node."""
        for index in range(self.nodes):
            self.start(index, *command, options=options)
        return self.started[0]


@contextmanager
def nodes_of_a_job(folder: Path, nodes: int, *, pods: bool = False) -> Iterator[Nodes]:
    """Give the nodes of a job, none started; end what runs of them at the end."""
    process = os.getpid()
    job = Nodes(folder, f"127.{process >> 8 & 127 or 1}.{process & 255}.", nodes, pods)
    try:
        yield job
    finally:
        for node in job.started.values():
            if node.process.poll() is None:
                node.process.terminate()
        for node in job.started.values():
            node.process.wait(timeout=_TOO_LONG)

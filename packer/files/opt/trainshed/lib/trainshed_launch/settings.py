"""What a launch was asked to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """The arguments of trainshed-launch, and where it runs.

    Attributes:
        command: what to start.
        environment: of the command.
        sent_files: an archive of files that the job brings, or nothing.
        processes: of mpirun and DeepSpeed on each node.
        keep_going: a command that fails on one node does not end it on the others.
        wait: seconds until all nodes must have come.
        port: of the main node.
        program: path of the launcher.
        folder: for its files; only this user can open it.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    sent_files: str
    processes: int
    keep_going: bool
    wait: float
    port: int
    program: Path
    folder: Path

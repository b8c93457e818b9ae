"""One real `packer build` against an embedded AWS."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from call_recorder import Recorder, recording

from embedded_aws.embedded import EmbeddedAws


@dataclass(frozen=True, slots=True, kw_only=True)
class Bake:
    """What came of a build.

    Attributes:
        accelerator: of the cell.
        orchestrator: of the cell.
        base: that was asked for, or None for the accelerator's first.
        code: Packer's exit code.
        log: all that it said.
        output: the folder with what it downloaded.
        recorder: its calls to AWS.
        seconds: how long it took; printed, never asserted.
    """

    accelerator: str
    orchestrator: str
    base: str | None
    code: int
    log: str
    output: Path
    recorder: Recorder
    seconds: float

    @property
    def cell(self) -> str:
        """For instance habana-ec2."""
        return f"{self.accelerator}-{self.orchestrator}"

    @property
    def manifest(self) -> dict[str, Any]:
        """What Packer's manifest says about the one build."""
        (build,) = json.loads((self.output / "manifest.json").read_text())["builds"]
        found: dict[str, Any] = build
        return found

    @property
    def image_id(self) -> str:
        """The AMI that it made."""
        identifier: str = self.manifest["artifact_id"]
        return identifier.partition(":")[2]

    @property
    def selftest(self) -> dict[str, Any]:
        """What the image said of itself."""
        found: dict[str, Any] = json.loads((self.output / "selftest.json").read_text())
        return found

    def said(self) -> str:
        """The end of the log, for a message."""
        return "\n".join(self.log.splitlines()[-60:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Oven:
    """Where bakes run.

    Attributes:
        aws: an embedded AWS with guests.
        template: packer/, or its copy that older Packer reads.
        subnet: where builders start.
        folder: for outputs and Packer's own files.
    """

    aws: EmbeddedAws
    template: Path
    subnet: str
    folder: Path
    durations: dict[str, float] = field(default_factory=dict)
    running: set[subprocess.Popen[str]] = field(default_factory=set)

    def interrupt(self) -> None:
        """Have every build that runs clean up and end."""
        for process in list(self.running):
            _interrupt(process)

    def bake(
        self,
        accelerator: str,
        orchestrator: str,
        base: str | None = None,
        *,
        variables: dict[str, str] | None = None,
        interrupt: Callable[[str], bool] | None = None,
        template: Path | None = None,
        name: str = "",
    ) -> Bake:
        """Run `packer build` for a cell.

        Args:
            accelerator: of the cell.
            orchestrator: of the cell.
            base: of the cell, by default the accelerator's first.
            variables: further variables of the template.
            interrupt: is asked after every line of output whether to interrupt the build (SIGINT).
            template: another one than the oven's.
            name: of the output's folder, by default the cell's.
        """
        cell = "-".join(filter(None, (accelerator, orchestrator, base)))
        folder = self.folder / (name or cell)
        output = folder / "output"
        output.mkdir(parents=True)
        given = {
            "accelerator": accelerator,
            "orchestrator": orchestrator,
            "subnet_id": self.subnet,
            "output": str(output),
            "commit": "0123abc",
        } | (variables or {})
        if base:
            given[f"{accelerator}_base"] = base
        command = ["packer", "build", "-color=false", "-timestamp-ui"]
        command += [f"-var={name}={value}" for name, value in given.items()] + ["."]
        started = time.monotonic()
        with recording(self.aws.endpoint) as recorder:
            environment = self.aws.environment | {
                "AWS_ENDPOINT_URL": recorder.endpoint,
                "CHECKPOINT_DISABLE": "1",
                "PACKER_CONFIG_DIR": str(folder),
                "PACKER_CACHE_DIR": str(folder / "cache"),
                "TMPDIR": str(folder),
            }
            code, log = self._run(
                command, template or self.template, environment, interrupt, folder / "log"
            )
        bake = Bake(
            accelerator=accelerator,
            orchestrator=orchestrator,
            base=base,
            code=code,
            log=log,
            output=output,
            recorder=recorder,
            seconds=time.monotonic() - started,
        )
        self.durations[folder.name] = bake.seconds
        return bake

    def _run(
        self,
        command: list[str],
        folder: Path,
        environment: dict[str, str],
        interrupt: Callable[[str], bool] | None,
        file: Path,
    ) -> tuple[int, str]:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert process.stdout
        self.running.add(process)
        with file.open("w", buffering=1) as log:
            for line in process.stdout:
                log.write(line)
                if interrupt and interrupt(line):
                    _interrupt(process)
                    interrupt = None
        code = process.wait()
        self.running.discard(process)
        return code, file.read_text()


def _interrupt(process: subprocess.Popen[str]) -> None:
    """Do what Ctrl-C does: Packer is two processes, and the terminal's signal goes to both."""
    os.killpg(process.pid, signal.SIGINT)


class Bakery:
    """Bakes each cell at most once, several at a time."""

    def __init__(self, oven: Oven, pool: ThreadPoolExecutor) -> None:
        self._oven = oven
        self._pool = pool
        self._bakes: dict[tuple[str, ...], Future[Bake]] = {}

    def start(self, *cells: tuple[str, ...]) -> None:
        """Have cells baked, without waiting."""
        for cell in cells:
            if cell not in self._bakes:
                self._bakes[cell] = self._pool.submit(self._oven.bake, *cell)

    def baked(self, *cell: str) -> Bake:
        """A bake that must have worked: of accelerator, orchestrator and, maybe, base."""
        self.start(cell)
        bake = self._bakes[cell].result()
        assert bake.code == 0, bake.said()
        return bake

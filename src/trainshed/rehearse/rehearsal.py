"""A rehearsal: an embedded AWS, the cluster in it, its job, its result."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, mkdtemp
from time import monotonic

from embedded_aws.batch.job_settings import JobSettings
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings, parse_as_of
from trainshed.errors import TrainshedError, one_line
from trainshed.rehearse import deployment
from trainshed.rehearse.faults import BEHAVIOURS, FaultKind
from trainshed.rehearse.job import Look, RehearsalJob, follow, job_definition, submit
from trainshed.sources import shipped

# The time limit of our queues for missing capacity, a day, takes some seconds.
_FAST = 20_000
# Reasons of AWS Batch that waiting does not remove.
_NEVER = "MISCONFIGURATION:"
_FROM_THE_LAUNCHER = ("trainshed-launch: ", "embedded AWS: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What to rehearse.

    Attributes:
        cluster: name of the cluster.
        nodes: of the job.
        command: of every node.
        fault: what goes wrong, or None.
        loopback: nodes on loopback, for root, too.
        as_of: month or day whose instance types exist; None for today's.
    """

    cluster: str
    nodes: int
    command: Sequence[str]
    fault: FaultKind | None = None
    loopback: bool = False
    as_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a rehearsal ended.

    Attributes:
        look: the last look at the job.
        log: of the embedded AWS.
        seconds: of each stage, by its name.
    """

    look: Look
    log: Path
    seconds: Mapping[str, float]


class Stages:
    """The stages of a rehearsal and how long they took.

    Args:
        show: is told of each stage as it begins.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        self.seconds: dict[str, float] = {}
        self._show = show

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure a stage."""
        self._show(name)
        began = monotonic()
        yield
        self.seconds[name] = monotonic() - began


def rehearse(rehearsal: Rehearsal, *, stages: Stages, seen: Callable[[Look], None]) -> Result:
    """Deploy a cluster to an embedded AWS of its own and run a job there.

    Args:
        rehearsal: what to rehearse.
        stages: are told of each stage.
        seen: is given each look at the job.
    """
    with TemporaryDirectory(prefix="trainshed-rehearse-") as name, job_path():
        output = Path(name) / "cdk.out"
        with stages.stage("synthesise the cluster"):
            stacks = deployment.synthesised(rehearsal.cluster, output)
        with stages.stage("start the embedded AWS"):
            settings = _settings(rehearsal, stacks[rehearsal.cluster].region)
            log = Path(mkdtemp(prefix="trainshed-rehearsal-")) / "rehearsal.log"
            server = start(settings, log=log)
        try:
            aws = EmbeddedAws(server)
            with stages.stage("deploy the cluster"):
                outputs = deployment.deploy(
                    aws, {name: stack.template for name, stack in stacks.items()}
                )
            with stages.stage(f"run the job on {rehearsal.nodes} nodes"):
                look = run_job(rehearsal, aws, outputs, seen)
            return Result(look=look, log=log, seconds=stages.seconds)
        except KeyboardInterrupt:
            rmtree(log.parent)
            raise
        finally:
            server.stop()


def _settings(rehearsal: Rehearsal, region: str) -> ServerSettings:
    fast = rehearsal.fault is FaultKind.INSUFFICIENT_CAPACITY
    return ServerSettings(
        regions=(region,),
        as_of=parse_as_of(rehearsal.as_of) if rehearsal.as_of else None,
        jobs=JobSettings(loopback=rehearsal.loopback, speed=_FAST if fast else 1),
    )


def run_job(
    rehearsal: Rehearsal,
    aws: EmbeddedAws,
    outputs: Mapping[str, str],
    seen: Callable[[Look], None],
) -> Look:
    """Run a job on a deployed cluster, with its fault; return the last look at it.

    Args:
        rehearsal: what to rehearse.
        aws: where the cluster is, and nothing else.
        outputs: of the cluster's stack.
        seen: is given each look at the job.

    Raises:
        TrainshedError: the cluster can never have so many nodes.
    """
    fault = BEHAVIOURS[rehearsal.fault] if rehearsal.fault else None
    group = job_definition(aws.client("batch"), outputs["JobDefinition"])
    if rehearsal.fault is not FaultKind.MISSING_IMAGE:
        deployment.add_image(aws.client("ecr"), group["container"]["image"])
    if fault and fault.before:
        fault.before(aws, outputs)
    command = fault.wrap(rehearsal.command) if fault and fault.wrap else rehearsal.command
    job = submit(
        aws.client("batch"),
        RehearsalJob(
            queue=outputs["JobQueue"],
            definition=outputs["JobDefinition"],
            nodes=rehearsal.nodes,
            command=command,
        ),
    )
    inject = fault.during if fault else None
    for look in follow(aws.client, job, rehearsal.nodes):
        seen(look)
        if look.status == "RUNNABLE" and look.reason.startswith(_NEVER):
            raise TrainshedError(
                f"--nodes {rehearsal.nodes}: the job can never start: {one_line(look.reason)}; ask "
                "for fewer nodes, or raise instance.nodes.max in the cluster's file"
            )
        if inject and any(not line.startswith(_FROM_THE_LAUNCHER) for line in look.lines):
            inject(aws, job)
            inject = None
    return look


def with_files_here(command: Sequence[str]) -> list[str]:
    """Return a command that names files by absolute paths: nodes begin in folders of their own."""
    return [str(Path(word).resolve()) if Path(word).is_file() else word for word in command]


@contextmanager
def job_path() -> Iterator[None]:
    """Let jobs of an embedded AWS that is started meanwhile find this Python's programs and ours.

    Ours are those that the container images have on their PATH.
    """
    before = os.environ.get("PATH", os.defpath)
    launcher = shipped("packer") / "files" / "opt" / "trainshed"
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), str(launcher), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before

"""A rehearsal: an embedded AWS, the cluster in it, its job, its result."""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from time import monotonic, sleep

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from embedded_aws.plugins import project_needs
from embedded_aws.process import start
from embedded_aws.settings import DEFAULT_ACCOUNT, ServerSettings, parse_as_of
from trainshed.app.sources import shipped
from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.jobs.local_files import is_sent, names_a_file
from trainshed.jobs.logs import follow
from trainshed.jobs.model import Job, JobState
from trainshed.jobs.scheduler import Scheduler, end_job, find_job, find_scheduler
from trainshed.jobs.submission import Submission
from trainshed.jobs.why.gathering import gather
from trainshed.jobs.why.judging import explain_job
from trainshed.offline.image import add_image, is_in_ecr
from trainshed.orchestrators import ORCHESTRATOR_OUTPUT, Orchestrator, part, traits
from trainshed.plan import ClusterPlan, load_fleet
from trainshed.ready_jobs import Work
from trainshed.region import environment_region
from trainshed.rehearse import deployment, kubernetes
from trainshed.rehearse.faults import FaultKind, Scene, find_fault
from trainshed.rehearse.reservations import check_reservable, reserve
from trainshed.rehearse.workplace import Workplace
from trainshed.spec import read_spec
from trainshed.spec.image import ImageSpec

# The time limit of a queue for missing capacity, two hours by default, takes some seconds.
_FAST = 2_000
# A control plane takes nine minutes, and its nodes three.
_FAST_CONTROL_PLANE = 300
# Unless a number is given.
_NODES = 4
# The account and its limits are our own: nobody is slowed down.
_LOOK_SECONDS = 0.25
_FROM_THE_LAUNCHER = ("trainshed-launch: ", "embedded AWS: ")


Seen = Callable[[Job, Sequence[str]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What to rehearse.

    Attributes:
        cluster: name of the cluster.
        work: of every node.
        nodes: of the job; None for 4, or fewer where the cluster has fewer.
        fault: what goes wrong, or None.
        fault_after: text in a line of the main node, after which it goes wrong; None for the first
            line of its command.
        loopback: nodes on loopback, also where they could have networks of their own.
        as_of: month or day whose instance types exist; None for the last day with all types of the
            project in the working directory.
    """

    cluster: str
    work: Work
    nodes: int | None = None
    fault: FaultKind | None = None
    fault_after: str | None = None
    loopback: bool = False
    as_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a rehearsal ended.

    Attributes:
        job: as it ended.
        seconds: of each stage, by its name.
        expected: what its fault was to do; empty without one.
    """

    job: Job
    seconds: Mapping[str, float]
    expected: str


class Stages:
    """The stages of a rehearsal and how long they took.

    Args:
        show: gets each stage as it begins, and steps within it.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        self.seconds: dict[str, float] = {}
        self.show = show

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure a stage."""
        self.show(name)
        began = monotonic()
        yield
        self.seconds[name] = monotonic() - began


def rehearse(rehearsal: Rehearsal, place: Workplace, *, stages: Stages, seen: Seen) -> Result:
    """Deploy a cluster to an embedded AWS of its own and run a job there.

    Args:
        rehearsal: what to rehearse.
        place: where its files are.
        stages: gets each stage.
        seen: is given the job again and again, with what its main node has printed since; and once
            with what is found of it, if it waits by the fault.

    Raises:
        TrainshedError: the cluster has fewer nodes, or another orchestrator than the fault, or an
            image that cannot miss, or a resource group of its owner's.
    """
    given = rehearsal.as_of
    as_of = parse_as_of(given) if given else project_needs(Path.cwd()).as_of
    plan: ClusterPlan | None = None
    for file in sorted(Path().glob("clusters/*.yaml")):
        spec = read_spec(file).spec
        if spec and spec.name == rehearsal.cluster:
            _check_nodes(rehearsal, spec.instance.nodes.max)
            if rehearsal.fault:
                find_fault(rehearsal.fault, spec.orchestrator, spec.name)
            if rehearsal.fault is FaultKind.MISSING_IMAGE and (uri := spec.section(ImageSpec).uri):
                _check_may_miss(DEFAULT_ACCOUNT, uri)
            [plan] = load_fleet([file], region=environment_region(os.environ)).clusters
            check_reservable(plan)
    with job_path():
        with stages.stage("synthesise the cluster"):
            stacks = deployment.synthesised(rehearsal.cluster, place.temporary / "cdk.out")
        outputs = stacks[rehearsal.cluster].template["Outputs"]
        orchestrator = Orchestrator(outputs[ORCHESTRATOR_OUTPUT]["Value"])
        in_kubernetes = traits(orchestrator).control_plane
        if in_kubernetes:
            kubernetes.check_machine(loopback=rehearsal.loopback)
        with stages.stage("start the embedded AWS"):
            settings = _settings(rehearsal, stacks[rehearsal.cluster].region, as_of, in_kubernetes)
            server = start(settings, log=place.log)
        try:
            aws = EmbeddedAws(server)
            region = Region(settings.regions[0], aws.client)
            templates = {name: stack.template for name, stack in stacks.items()}
            with stages.stage("deploy the cluster"):
                if plan:
                    templates = reserve(aws, plan, templates)
                if in_kubernetes:
                    kubernetes.make_roles(aws, templates)
                outputs = deployment.deploy(aws, templates)
            if in_kubernetes:
                with stages.stage("apply what Kubernetes needs"):
                    manifest = place.temporary / "cdk.out/kube" / f"{rehearsal.cluster}.yaml"
                    region = kubernetes.prepare(aws, outputs, manifest, stages.show)
            with stages.stage("run the job"):
                job = run_job(rehearsal, aws, region, outputs, seen)
            kind = rehearsal.fault
            expected = find_fault(kind, orchestrator, rehearsal.cluster).expected if kind else ""
            return Result(job=job, seconds=stages.seconds, expected=expected)
        finally:
            server.stop()


def _check_nodes(rehearsal: Rehearsal, most: int) -> None:
    if rehearsal.nodes and rehearsal.nodes > most:
        raise TrainshedError(
            f"--nodes {rehearsal.nodes}: {rehearsal.cluster} has at most {most} nodes; ask for "
            "fewer, or raise instance.nodes.max in the cluster's file"
        )


def _check_may_miss(account: str, image: str) -> None:
    if not is_in_ecr(account, image):
        raise TrainshedError(
            f"--fault {FaultKind.MISSING_IMAGE}: {image} is not of this account's ECR, so the "
            "embedded AWS takes it as present; leave out image.uri of the cluster file for this "
            "rehearsal"
        )


def _settings(
    rehearsal: Rehearsal, region: str, as_of: date | None, in_kubernetes: bool
) -> ServerSettings:
    speed = _FAST if rehearsal.fault is FaultKind.INSUFFICIENT_CAPACITY else 1
    return ServerSettings(
        regions=(region,),
        as_of=as_of,
        jobs=JobSettings(
            loopback=rehearsal.loopback, speed=_FAST_CONTROL_PLANE if in_kubernetes else speed
        ),
        kubernetes=in_kubernetes,
    )


def run_job(
    rehearsal: Rehearsal,
    aws: EmbeddedAws,
    region: Region,
    outputs: Mapping[str, str],
    seen: Seen,
) -> Job:
    """Run a job on a deployed cluster, with its fault; return it as it ended.

    Args:
        rehearsal: what to rehearse.
        aws: where the cluster is, and nothing else.
        region: that it is in, by whose credentials the job is submitted.
        outputs: of the cluster's stack.
        seen: as for `rehearse`.

    Raises:
        TrainshedError: the cluster has fewer nodes, or nodes that have no faults; the fault needs
            two nodes, or cannot happen to the cluster's image; or the job ended before its fault.
    """
    scheduler = find_scheduler(region, rehearsal.cluster)
    orchestrator = Orchestrator(outputs[ORCHESTRATOR_OUTPUT])
    kind = rehearsal.fault
    fault = find_fault(kind, orchestrator, rehearsal.cluster) if kind else None
    if traits(orchestrator).in_containers:
        account = region.call("sts", "get_caller_identity")["Account"]
        image = part(orchestrator, "faults").job_image(region, outputs)
        if kind is not FaultKind.MISSING_IMAGE:
            add_image(region, account, image)
        else:
            _check_may_miss(account, image)
    most = scheduler.most_nodes()
    _check_nodes(rehearsal, most)
    nodes = rehearsal.nodes or min(_NODES, most)
    if fault and fault.of_child and nodes == 1:
        raise TrainshedError(
            f"--fault {kind}: this fault hits node 1, the second node; give the job at least "
            "--nodes 2"
        )
    if fault and fault.before:
        fault.before(
            Scene(aws=aws, region=region, cluster=rehearsal.cluster, outputs=outputs, nodes=nodes)
        )
    work = rehearsal.work
    submission = Submission(
        name="rehearsal",
        command=fault.wrap(work.command) if fault and fault.wrap else work.command,
        nodes=nodes,
        environment=work.environment,
        files=work.files,
    )
    scheduler, job = find_job(region, scheduler.submit(submission))
    inject, due = fault.during if fault else None, False
    shows = fault.shows if fault else None
    for now, lines in follow(scheduler, job, None, lambda _: sleep(_LOOK_SECONDS)):
        seen(now, lines)
        due = due or any(_is_time(line, rehearsal.fault_after) for line in lines)
        # The child may start after that line.
        if inject and due:
            processes = part(orchestrator, "faults").child_processes(aws, job.job_id)
            if processes:
                inject(aws, job.job_id, processes)
                inject = None
        if shows and not now.state.is_over and shows(now):
            seen(now, _why(scheduler, now))
            end_job(scheduler, now, "the rehearsal has seen why it waits")
            shows = None
    if shows and not (fault and fault.during):
        reason = f": {now.reason}" if now.reason else ""
        raise TrainshedError(f"--fault {kind} was not seen, and the job has {now.status}{reason}")
    if inject:
        text = "" if rehearsal.fault_after is None else f" with {rehearsal.fault_after!r}"
        raise TrainshedError(
            f"--fault {kind} did not happen, and the job has {now.status}: the main "
            f"node's command printed no line{text} while {'node 1' if nodes > 1 else 'it'} ran; "
            "give a command that prints one and goes on, or name a line that it prints by "
            "--fault-after"
        )
    if now.state is JobState.FAILED:
        seen(now, _why(scheduler, now))
    return now


def _why(scheduler: Scheduler, job: Job) -> list[str]:
    """Return what `trainshed job why` says of a job."""
    findings = explain_job(gather(scheduler, job, datetime.now(UTC)))
    return [f"trainshed job why: {each}" for each in findings]


def _is_time(line: str, text: str | None) -> bool:
    """Return whether the fault happens after this line."""
    return not line.startswith(_FROM_THE_LAUNCHER) if text is None else text in line


def with_files_here(command: Sequence[str], sent: Collection[str] = ()) -> list[str]:
    """Return a command that names files by absolute paths: nodes begin in folders of their own.

    Args:
        command: as it was given.
        sent: files that go with the job, which keep their names.
    """
    return [
        str(Path(word).resolve()) if names_a_file(word) and not is_sent(word, sent) else word
        for word in command
    ]


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

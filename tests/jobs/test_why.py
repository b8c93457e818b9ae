"""Why a job waits or failed: each rule with a case that fires, and the nearest that does not."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trainshed.account.capacity_reservations import CapacityReservation
from trainshed.account.quotas import AppliedQuota
from trainshed.aws import AwsRefusal
from trainshed.catalogue import lookup
from trainshed.guard.outputs import ENDED_AT_EXPIRY, Stopped
from trainshed.jobs.model import EndCause, Ending, Job, JobNode, JobState, ListedJob
from trainshed.jobs.scheduler import Scheduler, scheduler_of
from trainshed.jobs.why.evidence import (
    Environment,
    Evidence,
    FailedLaunch,
    Instance,
    Printed,
    Queue,
    Shortage,
)
from trainshed.jobs.why.gathering import gather
from trainshed.jobs.why.judging import explain_job
from trainshed.jobs.why.printed import missing
from trainshed.kubernetes.node_group import NodeGroupIssue
from trainshed.prices import load_prices

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TRN_QUOTA = lookup("trn1.32xlarge").on_demand_quota


def node(index: int = 0, **changes: Any) -> JobNode:
    waits: dict[str, Any] = {
        "index": index,
        "is_main": index == 0,
        "state": JobState.QUEUED,
        "status": "RUNNABLE",
        "pulls_image": False,
        "address": None,
        "started_at": None,
        "stopped_at": None,
        "ending": None,
        "log": None,
        "past_logs": (),
        "attempts": (),
    }
    return JobNode(**(waits | changes))


def ending(exit_code: int | None = None, reason: str | None = None) -> Ending:
    return Ending(exit_code=exit_code, reason=reason, status_reason=None, cause=None)


HOST_ENDED = Ending(
    exit_code=None,
    reason=None,
    status_reason="Host EC2 (instance i-9) terminated.",
    cause=EndCause.HOST_ENDED,
)


WAITING = Job(
    job_id="job-1",
    name="pretrain",
    state=JobState.QUEUED,
    status="RUNNABLE",
    reason=None,
    cause=None,
    created_at=NOW - 20 * MINUTE,
    started_at=None,
    stopped_at=None,
    attempts=(),
    most_attempts=1,
    node_count=2,
    node_vcpus=128,
    image="registry.example/train:1",
    log_group="jobs",
    depends_on=(),
    timeout_seconds=3600,
    nodes=(node(0), node(1)),
    multi_node=True,
)
QUEUE = Queue(name="queue", state="ENABLED", status="VALID", reason="")
ENVIRONMENT = Environment(
    name="nodes",
    state="ENABLED",
    status="VALID",
    reason="ComputeEnvironment Healthy",
    kind="EC2",
    max_vcpus=256,
    instance_types=("trn1.32xlarge",),
    cluster="TrainCluster",
    launch_template=("lt-1", "3"),
)
BLOCK = CapacityReservation(
    reservation_id="cr-1",
    is_block=True,
    state="active",
    starts_at=NOW - 60 * MINUTE,
    ends_at=NOW + 60 * MINUTE,
    total=2,
    available=2,
)
OLD = Instance(instance_id="i-1", is_running=True, launched_at=NOW - 15 * MINUTE, boot=None)
LAUNCH = FailedLaunch(group="nodes-asg-1", message="", at=NOW - MINUTE)
LACKS = Shortage(
    node="node-0",
    resource="habana.ai/gaudi",
    has="0",
    asked="8",
    advice="its device plugin does not run there: trainshed kube apply",
)
STOPPED_AT = NOW - 60 * MINUTE
STOPPED = Stopped(
    at=STOPPED_AT, reason="it is outside the working hours", remedy="wait until tomorrow"
)
EVIDENCE = Evidence(
    service="AWS Batch",
    region="us-west-2",
    job=WAITING,
    now=NOW,
    queue=QUEUE,
    environments=(ENVIRONMENT,),
    joined=frozenset(),
)


def waiting(**changes: Any) -> Evidence:
    return replace(EVIDENCE, **changes)


def job(**changes: Any) -> Evidence:
    return replace(EVIDENCE, job=replace(WAITING, **changes))


def failed(*endings: Ending, **changes: Any) -> Evidence:
    ended = {"state": JobState.FAILED, "attempts": endings, "nodes": (node(0, ending=endings[-1]),)}
    return job(**(ended | changes))


def running(**changes: Any) -> Evidence:
    nodes = (node(), node(1))
    return job(**({"state": JobState.RUNNING, "nodes": nodes} | changes))


def printed(*lines: str, at: datetime = NOW) -> Printed:
    return Printed(node=0, lines=lines, at=at)


def environment(**changes: Any) -> Evidence:
    return waiting(environments=(replace(ENVIRONMENT, **changes),))


def block(**changes: Any) -> Evidence:
    return waiting(reservations=(replace(BLOCK, **changes),))


def launch(message: str) -> Evidence:
    return waiting(failed_launches=(replace(LAUNCH, message=message),))


def kubernetes(nodes: int | None = None, cordoned: int = 0, **changes: Any) -> Evidence:
    return replace(job(**changes), service="Kubernetes", nodes=nodes, cordoned=cordoned)


def quota(vcpus: float, **changes: Any) -> Evidence:
    return waiting(quota=AppliedQuota(quota=TRN_QUOTA, value=vcpus), **changes)


def other(status: str = "RUNNING") -> ListedJob:
    return ListedJob(
        job_id="job-0",
        name="other",
        status=status,
        reason=None,
        nodes=8,
        created_at=NOW - 60 * MINUTE,
    )


# How the launcher shows the last lines of another node.
FULL = "  | OSError: [Errno 28] No space left on device: '/fsx/step-100.pt'"
FIRES: dict[str, tuple[Evidence, str, str]] = {
    "a checkpoint that does not fit": (
        replace(failed(ending(1)), printed=printed("saving", FULL, "ended")),
        "039",
        "/fsx/step-100.pt has no space left",
    ),
    "a shell that cannot write": (
        replace(
            failed(ending(1)),
            printed=printed("sh: 1: cannot create /scratch/a: Disk quota exceeded"),
        ),
        "039",
        "/scratch/a has no space left",
    ),
    "a file in the folder of the job": (
        replace(
            failed(ending(1)),
            printed=printed("dd: error writing \u2018out/model.bin\u2019: No space left on device"),
        ),
        "039",
        "out/model.bin has no space left",
    ),
    "no space, somewhere": (
        replace(failed(ending(1)), printed=printed("tar: write error: No space left on device")),
        "039",
        "a file system has no space left",
    ),
    "a device that is lost": (
        replace(
            failed(ending(197)),
            printed=printed(
                "trainshed-launch: node 1 (10.20.0.12) lost a device while the command ran: 7 of 8 "
                "efa devices are on the PCI bus; i-1 goes down",
            ),
        ),
        "040",
        "node 1 (10.20.0.12) lost devices while the command ran: 7 of 8 efa devices are on the",
    ),
    "a device that is missing": (
        replace(
            failed(ending(197)),
            printed=printed(
                "trainshed-launch: ERROR: node 1 (10.20.0.12) takes no part: 7 of 8 efa devices "
                "are on the PCI bus; i-1 goes down",
            ),
        ),
        "040",
        "node 1 (10.20.0.12) lacks devices: 7 of 8 efa devices are on the PCI bus",
    ),
    "a device that the only node lost": (
        replace(
            failed(ending(197)),
            printed=printed(
                "trainshed-launch: this node lost a device while the command ran: 7 of 8 efa "
                "devices are on the PCI bus; i-1 powers off",
            ),
        ),
        "040",
        "node 0 lost devices while the command ran: 7 of 8 efa devices are on the PCI bus",
    ),
    "a device that a child node says it lost": (
        replace(
            failed(ending(197)),
            printed=replace(
                printed(
                    "trainshed-launch: ERROR: this node lost a device while the command ran: 7 of "
                    "8 efa devices are on the PCI bus; i-1 powers off",
                ),
                node=1,
            ),
        ),
        "040",
        "node 1 lost devices while the command ran: 7 of 8 efa devices are on the PCI bus",
    ),
    "a device that the main node lacks": (
        replace(
            failed(ending(197)),
            printed=printed(
                "trainshed-launch: ERROR: this node takes no part: 7 of 8 efa devices are on the "
                "PCI bus; i-1 powers off",
            ),
        ),
        "040",
        "node 0 lacks devices: 7 of 8 efa devices are on the PCI bus",
    ),
    "pulling the image": (
        running(started_at=NOW - 5 * MINUTE, nodes=(node(), node(1, pulls_image=True))),
        "030",
        "the container of node 1 of 2 is not up, 5 minutes after the main node's: the node pulls "
        "registry.example/train:1 and unpacks it",
    ),
    "all pull the image": (
        job(state=JobState.STARTING, nodes=(node(pulls_image=True), node(1, pulls_image=True))),
        "030",
        "the container of node 0-1 of 2 is not up: the node pulls",
    ),
    "dependency": (
        job(state=JobState.PENDING, depends_on=("job-0",)),
        "002",
        "it depends on job-0",
    ),
    "dependency failed": (
        job(state=JobState.FAILED, depends_on=("job-0",), reason="Dependent Job failed"),
        "002",
        "trainshed job why job-0",
    ),
    "queue disabled": (
        waiting(queue=replace(QUEUE, state="DISABLED")),
        "003",
        "update-job-queue --job-queue queue --state ENABLED",
    ),
    "queue invalid": (
        waiting(queue=replace(QUEUE, status="INVALID", reason="no environment")),
        "003",
        "INVALID (no environment); fix",
    ),
    "environment invalid": (
        environment(status="INVALID", reason="CLIENT_ERROR - not authorized"),
        "004",
        "INVALID (CLIENT_ERROR - not authorized)",
    ),
    "environment disabled": (environment(state="DISABLED"), "004", "nodes is DISABLED"),
    "spot": (environment(kind="SPOT"), "005", "of type SPOT, on which multi-node jobs stay"),
    "a job from before the cluster moved to Spot": (
        replace(environment(kind="SPOT"), job=replace(WAITING, node_count=1, nodes=(node(),))),
        "005",
        "if the cluster has moved to Spot since, end this job, and submit it again",
    ),
    "unmanaged": (environment(kind="UNMANAGED", max_vcpus=0), "005", "of type UNMANAGED"),
    "too many vCPUs": (
        environment(max_vcpus=255),
        "006",
        "2 nodes of 128 vCPUs need 256, and compute environment nodes has at most 255; submit with "
        "--nodes 1",
    ),
    "too many vCPUs on Spot": (
        replace(
            environment(kind="SPOT", max_vcpus=127),
            job=replace(WAITING, node_count=1, nodes=(node(),), multi_node=False),
        ),
        "006",
        "1 nodes of 128 vCPUs need 128, and compute environment nodes has at most 127",
    ),
    "Batch says why": (
        job(reason="MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - The job needs more."),
        "007",
        "AWS Batch says: MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - The job needs more; no "
        "instance type",
    ),
    "Batch says something else": (
        job(reason="UNDETERMINED - Batch job is blocked"),
        "007",
        "warning: AWS Batch says: UNDETERMINED",
    ),
    "a job ahead": (waiting(ahead=(other(),)), "008", "1 jobs of 8 nodes are before it"),
    "no capacity": (
        launch("We currently do not have sufficient trn1.32xlarge capacity in the zone"),
        "009",
        "2026-11-22 11:59 UTC: We currently do not have sufficient trn1.32xlarge capacity in the "
        "zone; wait",
    ),
    "limit": (
        launch("You have requested more vCPU capacity than your current vCPU limit of 0 allows"),
        "009",
        "ask for a larger quota",
    ),
    "launch template": (
        launch("You must use a valid fully-formed launch template. Invalid device index"),
        "009",
        "deploy the cluster again, which makes a launch template that fits",
    ),
    "placement group": (
        launch("The placement group 'train' is in the state deleting"),
        "009",
        "deploy the cluster again; instances of other clusters",
    ),
    "another failed launch": (launch("Out of luck."), "009", "Out of luck; fix what"),
    "quota": (
        quota(255),
        "010",
        "needs 256 vCPUs, and the account's quota 'Running On-Demand Trn instances'",
    ),
    "block not begun": (
        block(starts_at=NOW + MINUTE, state="scheduled"),
        "011",
        "Capacity Block cr-1 begins at 2026-11-22 12:01 UTC; wait",
    ),
    "block over": (block(ends_at=NOW, state="expired"), "011", "is over (expired)"),
    "block of UltraServers ends": (
        block(ends_at=NOW + 59 * MINUTE, instance_type="trn2u.48xlarge"),
        "011",
        "ends at 2026-11-22 12:59 UTC",
    ),
    "block ends": (block(ends_at=NOW + 30 * MINUTE), "011", "ends at 2026-11-22 12:30 UTC"),
    "a window after one that is over": (
        waiting(
            reservations=(
                replace(BLOCK, reservation_id="cr-3", starts_at=NOW + 600 * MINUTE),
                replace(BLOCK, ends_at=NOW - MINUTE),
                replace(BLOCK, reservation_id="cr-2", starts_at=NOW + 60 * MINUTE),
            )
        ),
        "011",
        "Capacity Block cr-2 begins at 2026-11-22 13:00 UTC; wait: the job starts then",
    ),
    "reservation cancelled": (
        block(is_block=False, state="cancelled", ends_at=None),
        "011",
        "capacity reservation cr-1 is over (cancelled)",
    ),
    "block too small": (block(total=1), "011", "is for 1 instances, and the job has 2 nodes"),
    "blocks of a group that are too small": (
        waiting(
            reservations=(
                replace(BLOCK, total=1, available=1),
                replace(BLOCK, reservation_id="cr-2", ends_at=NOW - MINUTE),
            )
        ),
        "011",
        "Capacity Block cr-1 is for 1 instances",
    ),
    "block in use": (block(available=1), "011", "has 1 of its 2 instances free"),
    "boot failed": (
        waiting(instances=(replace(OLD, boot="failed: 7 of 8 EFA devices", is_running=False),)),
        "012",
        "the boot of i-1 failed: 7 of 8 EFA devices",
    ),
    "not joined": (waiting(instances=(OLD,)), "013", "i-1 did not join ECS within 15 minutes"),
    "booted and not joined": (
        waiting(instances=(replace(OLD, boot="ok"),)),
        "013",
        "their boot succeeded; check that their subnet reaches ECS",
    ),
    "no image": (
        failed(ending(reason="CannotPullContainerError: manifest unknown")),
        "014",
        "the container image registry.example/train:1 does not exist",
    ),
    "no log group": (
        failed(ending(reason="CannotStartContainerError: The specified log group does not exist.")),
        "014",
        "create-log-group --log-group-name jobs",
    ),
    "no command": (
        failed(ending(127, 'CannotStartContainerError: exec: "x": executable file not found')),
        "014",
        "with --plain",
    ),
    "another reason": (failed(ending(reason="DockerTimeoutError")), "014", "fix what"),
    "out of memory": (failed(ending(137, "OutOfMemoryError: Container killed")), "014", "memory"),
    "exit code": (failed(ending(3)), "015", "node 0 ended with exit code 3: the command's own"),
    "peer lost": (
        failed(ending(197), ending(197), most_attempts=2),
        "015",
        "a node of the job was lost or taken back, lacks a device, or did not come in time, "
        "tried 2 of 2 times; trainshed job logs job-1 --node 0",
    ),
    "killed": (failed(ending(137)), "015", "killed by SIGKILL"),
    "another signal": (failed(ending(139)), "015", "ended by signal 11"),
    "tried again": (job(attempts=(ending(197),), most_attempts=3), "015", "tried 1 of 3 times"),
    "host": (
        failed(HOST_ENDED),
        "016",
        "Host EC2 (instance i-9) terminated, while it ran a node",
    ),
    "host of a job that is tried again": (
        failed(HOST_ENDED, most_attempts=3),
        "016",
        "AWS Batch tries such a job 3 times, so have it resume from a checkpoint",
    ),
    "a command that was not delivered": (
        failed(
            Ending(
                exit_code=None,
                reason=None,
                status_reason="Undeliverable",
                cause=EndCause.NOT_DELIVERED,
            )
        ),
        "021",
        "node 0 (None) did not get the command",
    ),
    "time-out": (
        failed(ending(143), reason="took too long", cause=EndCause.TIMED_OUT),
        "017",
        "its time-out of 3600 seconds",
    ),
    "time limit": (
        job(
            state=JobState.FAILED,
            cause=EndCause.WAITED_TOO_LONG,
            reason="Canceled by JobStateTimeLimit action due to reason: CAPACITY:INSUFFICIENT",
        ),
        "018",
        "the queue ended it because it waited too long",
    ),
    "cancelled": (
        failed(ending(143), cause=EndCause.STOPPED, reason="wrong data"),
        "019",
        "it was ended on request: wrong data",
    ),
    "a program that is missing": (
        replace(
            failed(ending(127)),
            printed=printed(
                "trainshed-launch: ERROR: mpirun cannot be started: No such file or directory"
            ),
        ),
        "015",
        "exit code 127: the program mpirun is not in the container image",
    ),
    "a file that is missing": (
        replace(
            failed(ending(2)),
            printed=printed("python: can't open file '/work/train.py': [Errno 2] No such file"),
        ),
        "015",
        "exit code 2: the file /work/train.py is not in the container image",
    ),
    "a missing program of a plain EC2 node": (
        replace(
            failed(ending(127), image=""),
            printed=printed("bash: line 1: hl-smi: command not found"),
        ),
        "015",
        "the program hl-smi is not on the node",
    ),
    "nodes that wait for others": (
        waiting(
            queue=replace(QUEUE, capacity_wait_seconds=7200),
            short_of_capacity=True,
            instances=(OLD,),
            joined=frozenset({"i-1"}),
            node_price=load_prices("us-west-2").price("on-demand/trn1.32xlarge"),
        ),
        "033",
        "of the job's 2 nodes, 1 run and wait for the others, for 21.50 USD an hour; its queue "
        "lets it wait for 2 hours (job.capacity_wait_hours): end it",
    ),
    "nodes of unknown price that wait for others": (
        waiting(instances=(OLD,), joined=frozenset({"i-1"}), failed_launches=(LAUNCH,)),
        "033",
        "for a price that is not known; its queue lets it wait: end it",
    ),
    "a job that prints nothing more": (
        replace(running(), printed=printed("step 100", at=NOW - 47 * MINUTE)),
        "032",
        "the main node has printed nothing for 47 minutes",
    ),
    "a job that never printed": (
        running(started_at=NOW - 31 * MINUTE),
        "032",
        "the main node has printed nothing for 31 minutes",
    ),
    "a node group without capacity": (
        waiting(
            node_group_issues=(
                NodeGroupIssue(
                    code="AsgInstanceLaunchFailures",
                    message="Could not launch On-Demand Instances. We currently do not have "
                    "sufficient dl1.24xlarge capacity. Launching EC2 instance failed.",
                ),
            )
        ),
        "035",
        "EKS says of the node group: AsgInstanceLaunchFailures: Could not launch On-Demand "
        "Instances. We currently do not have sufficient dl1.24xlarge capacity. Launching EC2 "
        "instance failed; wait, ask for fewer nodes",
    ),
    "nodes without devices": (
        waiting(shortages=tuple(replace(LACKS, node=f"node-{each}") for each in range(4))),
        "036",
        "node-0, node-1, node-2 and 1 more: habana.ai/gaudi is 0, and a pod of the job asks for 8; "
        "its device plugin does not run there: trainshed kube apply",
    ),
    "nodes that the guard stopped": (
        waiting(stopped=STOPPED),
        "038",
        "it is outside the working hours; wait",
    ),
    "a job that ended with nodes that the guard stopped": (
        replace(
            job(state=JobState.FAILED, stopped_at=STOPPED_AT + MINUTE), stopped=STOPPED, queue=None
        ),
        "038",
        "it is outside the working hours",
    ),
    "a job of AWS Batch that the guard ended when the cluster had expired": (
        replace(
            job(
                state=JobState.FAILED,
                cause=EndCause.STOPPED,
                reason=f"{ENDED_AT_EXPIRY}TrainCluster was 2026-11-22 11:00 UTC",
                stopped_at=STOPPED_AT + 6 * MINUTE,
            ),
            stopped=STOPPED,
        ),
        "038",
        "it is outside the working hours",
    ),
    "a job that lost its main node, which does not say when": (
        replace(
            job(
                state=JobState.FAILED,
                cause=EndCause.HOST_ENDED,
                created_at=STOPPED_AT - MINUTE,
                stopped_at=None,
            ),
            stopped=STOPPED,
            queue=None,
        ),
        "038",
        "it is outside the working hours",
    ),
    "no nodes": (
        kubernetes(reason="no nodes are available", nodes=0),
        "034",
        "the job needs 2 nodes, 0 exist; see why nodes are missing",
    ),
    "nodes that are drained": (
        kubernetes(reason="no nodes are available", nodes=3, cordoned=2),
        "034",
        "the job needs 2 nodes, 3 exist, 2 of them cordoned; submit it with --nodes 1, or wait",
    ),
    "an image that a kubelet cannot pull": (
        kubernetes(state=JobState.STARTING, reason="ErrImagePull: Failed to pull image."),
        "037",
        "a container does not start: ErrImagePull: Failed to pull image; the container image "
        "registry.example/train:1 does not exist",
    ),
    "a container that a kubelet cannot start": (
        kubernetes(state=JobState.STARTING, reason="CreateContainerConfigError: no secret x"),
        "037",
        "CreateContainerConfigError: no secret x; end the job: trainshed job cancel job-1",
    ),
    "unanswered": (waiting(unanswered=("may not call ec2:X",)), "020", "not looked at: may not"),
}
SILENT: dict[str, Evidence] = {
    "a job that waits for nothing known": EVIDENCE,
    "a dependency that is over": job(depends_on=("job-0",)),
    "a job of AWS Batch that goes on when the guard disables its environment": replace(
        environment(state="DISABLED"),
        job=replace(WAITING, state=JobState.RUNNING),
        stopped=STOPPED,
    ),
    "a job of AWS Batch that failed after the guard had disabled its environment": replace(
        job(state=JobState.FAILED, stopped_at=STOPPED_AT + MINUTE), stopped=STOPPED
    ),
    "a job that failed long before the guard let other nodes go": replace(
        job(state=JobState.FAILED, stopped_at=STOPPED_AT - 60 * MINUTE), stopped=STOPPED, queue=None
    ),
    "a job that lost its main node after the guard stopped nodes": replace(
        job(
            state=JobState.FAILED,
            cause=EndCause.HOST_ENDED,
            created_at=STOPPED_AT + MINUTE,
            stopped_at=None,
        ),
        stopped=STOPPED,
        queue=None,
    ),
    "a job that failed while it is not known when nodes were let go": replace(
        job(state=JobState.FAILED, stopped_at=NOW),
        stopped=replace(STOPPED, at=None),
        queue=None,
    ),
    "a job that failed long after the guard stopped other nodes": replace(
        job(state=JobState.FAILED, stopped_at=STOPPED_AT + 60 * MINUTE), stopped=STOPPED, queue=None
    ),
    "a queue that is updated": waiting(queue=replace(QUEUE, status="UPDATING")),
    "what a running job no longer needs": replace(
        EVIDENCE,
        job=replace(WAITING, state=JobState.RUNNING, reason="for another reason"),
        queue=replace(QUEUE, state="DISABLED"),
        environments=(replace(ENVIRONMENT, state="DISABLED", max_vcpus=0),),
        ahead=(other(),),
        failed_launches=(LAUNCH,),
        instances=(OLD, replace(OLD, boot="failed: something")),
        quota=AppliedQuota(quota=TRN_QUOTA, value=0),
        reservations=(replace(BLOCK, available=0, ends_at=NOW + MINUTE),),
    ),
    "a job of one container on Spot": replace(
        environment(kind="SPOT"),
        job=replace(WAITING, node_count=1, nodes=(node(),), multi_node=False),
    ),
    "all vCPUs": environment(max_vcpus=256),
    "a quota that is enough": quota(256),
    "one block of a group is over": waiting(
        reservations=(BLOCK, replace(BLOCK, reservation_id="cr-2", ends_at=NOW - MINUTE))
    ),
    "two blocks have the nodes together": waiting(
        reservations=tuple(
            replace(BLOCK, reservation_id=each, total=1, available=1) for each in ("cr-1", "cr-2")
        )
    ),
    "a quota beside a block": quota(0, reservations=(BLOCK,)),
    "a block that runs": block(ends_at=NOW + 31 * MINUTE),
    "a reservation without an end": block(is_block=False, starts_at=None, ends_at=None),
    "a reservation that ends, too": block(is_block=False, ends_at=NOW + MINUTE),
    "a block whose instances run": waiting(
        reservations=(replace(BLOCK, available=0),), instances=(replace(OLD, launched_at=NOW),)
    ),
    "a boot that went well": waiting(
        instances=(replace(OLD, boot="ok"),), joined=frozenset(("i-1",))
    ),
    "a boot that failed before the job": waiting(
        instances=(replace(OLD, boot="failed: x", launched_at=NOW - 60 * MINUTE, is_running=False),)
    ),
    "every container is up": running(),
    "a node that has just been launched": waiting(
        instances=(replace(OLD, launched_at=NOW - 9 * MINUTE),)
    ),
    "a node of which it is not known whether it joined": waiting(instances=(OLD,), joined=None),
    "a job that printed a moment ago": replace(
        running(started_at=NOW - 60 * MINUTE), printed=printed("step", at=NOW - 29 * MINUTE)
    ),
    "a pod on Kubernetes that starts": kubernetes(state=JobState.STARTING),
    "a job of another service that starts": job(state=JobState.STARTING, reason="it starts"),
    "a job that has just begun": running(started_at=NOW - 29 * MINUTE),
    "a success that was full once": replace(
        job(state=JobState.SUCCEEDED, attempts=(ending(1), ending(0))), printed=printed(FULL)
    ),
    "a job that runs and says so": replace(running(), printed=printed(FULL)),
    "a success": job(state=JobState.SUCCEEDED, attempts=(ending(197), ending(0))),
    "a success whose child node lost its host": job(
        state=JobState.SUCCEEDED, nodes=(node(), node(1, ending=HOST_ENDED))
    ),
    "a block that was there for a job that succeeded": replace(
        block(ends_at=NOW), job=replace(WAITING, state=JobState.SUCCEEDED)
    ),
}


@pytest.mark.parametrize("case", FIRES)
def test_a_rule_names_the_reason_and_the_remedy(case: str) -> None:
    evidence, rule, words = FIRES[case]

    found = explain_job(evidence)

    own = [finding for finding in found if finding.rule == f"TS-JOB-{rule}"]
    assert len(own) == 1, found
    assert words in str(own[0])
    assert own[0].remedy


@pytest.mark.parametrize("case", SILENT)
def test_a_rule_says_nothing_of_what_is_right(case: str) -> None:
    assert explain_job(SILENT[case]) == []


def test_a_cause_is_named_by_one_rule() -> None:
    alone = {case for case, (evidence, _, _) in FIRES.items() if len(explain_job(evidence)) == 1}

    # Its exit code is named, too; or why EC2 lacks the others.
    assert set(FIRES) - alone <= {
        "a checkpoint that does not fit",
        "a shell that cannot write",
        "a file in the folder of the job",
        "no space, somewhere",
        "a device that is lost",
        "a device that is missing",
        "a device that the only node lost",
        "a device that a child node says it lost",
        "a device that the main node lacks",
        "no command",
        "out of memory",
        "nodes that wait for others",
        "nodes of unknown price that wait for others",
    }


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"instances": (OLD, replace(OLD, instance_id="i-2"))}, id="all-are-there"),
        pytest.param({"placed": (replace(other(), nodes=1),)}, id="another-job-has-it"),
        pytest.param({"reservations": (BLOCK,)}, id="paid-for-anyway"),
        pytest.param({"failed_launches": ()}, id="the-others-come"),
    ],
)
def test_nodes_that_do_not_wait_for_capacity_cost_nothing_more(changes: dict[str, Any]) -> None:
    lacking = waiting(instances=(OLD,), failed_launches=(LAUNCH,))

    found = explain_job(replace(lacking, **changes))

    assert "TS-JOB-033" in [each.rule for each in explain_job(lacking)]
    assert "TS-JOB-033" not in [each.rule for each in found]


class Answers:
    """A region that answers from a table, for what the embedded AWS does not do by itself."""

    name = "us-west-2"

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        if operation not in self._answers:
            raise AwsRefusal("AccessDenied", f"may not call {service}:{operation}")
        answer: dict[str, Any] = self._answers[operation]
        return answer

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Iterator[Any]:
        yield from self.call(service, operation, **params)[key]

    def wait(self, service: str, waiter: str, **params: Any) -> None:
        raise AssertionError("nothing waits")


def on_batch(region: Any) -> Scheduler:
    outputs = {"Orchestrator": "batch", "JobQueue": "arn:queue", "JobDefinition": "arn:definition"}
    scheduler = scheduler_of(region, "TrainCluster", outputs)
    assert scheduler
    return scheduler


QUEUES = [
    {
        "jobQueueName": "queue",
        "state": "ENABLED",
        "jobStateTimeLimitActions": [
            {"reason": "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT", "maxTimeSeconds": 600},
            {"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "maxTimeSeconds": 7200},
        ],
        "computeEnvironmentOrder": [{"order": 1, "computeEnvironment": "arn:nodes"}],
    }
]
ENVIRONMENTS = [
    {
        "computeEnvironmentArn": "arn:nodes",
        "computeEnvironmentName": "nodes",
        "ecsClusterArn": "arn:cluster",
        "computeResources": {
            "type": "EC2",
            "maxvCpus": 256,
            "instanceTypes": ["trn1.32xlarge"],
            "tags": {"trainshed:cluster": "TrainCluster"},
            "launchTemplate": {"launchTemplateId": "lt-1", "version": "3"},
        },
    }
]


def test_aws_batch_says_that_capacity_is_short() -> None:
    refusing: Any = Answers()
    short = replace(WAITING, reason="CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - none")

    assert gather(on_batch(refusing), short, NOW).short_of_capacity
    assert not gather(on_batch(refusing), WAITING, NOW).short_of_capacity


@pytest.mark.parametrize("kind", ["capacity-block", "default"])
def test_the_blocks_or_reservations_of_a_resource_group_are_looked_up(kind: str) -> None:
    arn = "arn:aws:resource-groups:us-west-2:123456789012:group/Blocks"
    target = {"CapacityReservationTarget": {"CapacityReservationResourceGroupArn": arn}}
    in_blocks = kind == "capacity-block"
    market = {"InstanceMarketOptions": {"MarketType": kind}} if in_blocks else {}
    member = {
        "ReservationType": kind,
        "State": "active",
        "StartDate": NOW - 60 * MINUTE,
        "EndDate": NOW + 60 * MINUTE,
        "TotalInstanceCount": 2,
        "AvailableInstanceCount": 2,
    }
    region: Any = Answers(
        describe_job_queues={"jobQueues": QUEUES},
        describe_compute_environments={"computeEnvironments": ENVIRONMENTS},
        list_jobs={"jobSummaryList": []},
        describe_auto_scaling_groups={"AutoScalingGroups": []},
        describe_instances={"Reservations": []},
        list_container_instances={"containerInstanceArns": []},
        describe_launch_template_versions={
            "LaunchTemplateVersions": [
                {"LaunchTemplateData": {"CapacityReservationSpecification": target, **market}}
            ]
        },
        get_group_configuration={
            "GroupConfiguration": {"Configuration": [{"Type": "AWS::EC2::CapacityReservationPool"}]}
        },
        list_group_resources={
            "ResourceIdentifiers": [
                {"ResourceArn": f"arn:aws:ec2:us-west-2:123456789012:capacity-reservation/{each}"}
                for each in ("cr-1", "cr-2")
            ]
        },
        describe_capacity_reservations={
            "CapacityReservations": [
                {**member, "CapacityReservationId": "cr-1", "InstanceType": "trn1.32xlarge"},
                {**member, "CapacityReservationId": "cr-2", "InstanceType": "p4d.24xlarge"},
                {
                    **member,
                    "CapacityReservationId": "cr-3",
                    "InstanceType": "trn1.32xlarge",
                    "ReservationType": "default" if in_blocks else "capacity-block",
                },
            ]
        },
        get_service_quota={"Quota": {"Value": 0.0}},
    )

    evidence = gather(on_batch(region), WAITING, NOW)

    assert evidence.unanswered == ()
    [found] = evidence.reservations
    assert found == replace(BLOCK, instance_type="trn1.32xlarge", is_block=in_blocks)


def test_launches_reservation_and_members_are_looked_up() -> None:
    activity = {"StatusCode": "Failed", "StatusMessage": "no capacity", "StartTime": NOW}
    target = {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}}
    region: Any = Answers(
        describe_job_queues={"jobQueues": QUEUES},
        describe_compute_environments={"computeEnvironments": ENVIRONMENTS},
        list_jobs={"jobSummaryList": []},
        describe_auto_scaling_groups={
            "AutoScalingGroups": [
                {"AutoScalingGroupName": "nodes-asg-1"},
                {"AutoScalingGroupName": "other-asg-1"},
            ]
        },
        describe_scaling_activities={
            "Activities": [
                activity,
                {**activity, "StatusCode": "Successful"},
                {**activity, "StartTime": NOW - 60 * MINUTE},
            ]
        },
        describe_instances={"Reservations": []},
        list_container_instances={"containerInstanceArns": ["arn:instance"]},
        describe_container_instances={
            "containerInstances": [
                {
                    "containerInstanceArn": "arn:instance",
                    "ec2InstanceId": "i-1",
                    "status": "ACTIVE",
                    "agentConnected": True,
                }
            ]
        },
        describe_launch_template_versions={
            "LaunchTemplateVersions": [
                {"LaunchTemplateData": {"CapacityReservationSpecification": target}}
            ]
        },
        describe_capacity_reservations={
            "CapacityReservations": [
                {
                    "CapacityReservationId": "cr-1",
                    "ReservationType": "capacity-block",
                    "State": "active",
                    "StartDate": NOW - 60 * MINUTE,
                    "EndDate": NOW + 60 * MINUTE,
                    "TotalInstanceCount": 2,
                    "AvailableInstanceCount": 2,
                }
            ]
        },
        get_service_quota={"Quota": {"Value": 0.0}},
    )

    evidence = gather(on_batch(region), WAITING, NOW)

    assert evidence.unanswered == ()
    [launched] = evidence.failed_launches
    assert (launched.group, launched.message) == ("nodes-asg-1", "no capacity")
    assert evidence.reservations == (BLOCK,)
    assert evidence.joined == frozenset(("i-1",))
    assert evidence.quota == AppliedQuota(quota=TRN_QUOTA, value=0)
    assert evidence.environments == (replace(ENVIRONMENT, reason=""),)


def test_of_an_environment_on_spot_the_quota_of_spot_is_asked() -> None:
    [nodes] = ENVIRONMENTS
    resources: dict[str, Any] = nodes["computeResources"]  # type: ignore[assignment]
    on_spot = {**nodes, "computeResources": {**resources, "type": "SPOT"}}
    region: Any = Answers(
        describe_job_queues={"jobQueues": QUEUES},
        describe_compute_environments={"computeEnvironments": [on_spot]},
        get_service_quota={"Quota": {"Value": 0.0}},
    )

    evidence = gather(on_batch(region), WAITING, NOW)

    assert evidence.quota
    assert evidence.quota.quota == lookup("trn1.32xlarge").spot_quota


def test_what_may_not_be_asked_is_named_and_the_rest_is_asked() -> None:
    region: Any = Answers(
        describe_job_queues={"jobQueues": QUEUES},
        describe_compute_environments={"computeEnvironments": ENVIRONMENTS},
    )

    evidence = gather(on_batch(region), WAITING, NOW)

    assert evidence.queue and evidence.environments
    assert evidence.queue.capacity_wait_seconds == 7200
    assert evidence.node_price and evidence.node_price.usd == 21.5
    assert evidence.joined is None
    assert [each.rpartition(" ")[2] for each in evidence.unanswered] == [
        "batch:list_jobs",
        "autoscaling:describe_auto_scaling_groups",
        "ec2:describe_instances",
        "ecs:list_container_instances",
        "ec2:describe_launch_template_versions",
        "service-quotas:get_service_quota",
    ]


@pytest.mark.parametrize(
    ("line", "lacked"),
    [
        ("trainshed-launch: ERROR: nosuch cannot be started: No such file or directory", "nosuch"),
        ("sh: 1: nosuch: not found", "nosuch"),
        ("/bin/sh: 1: nosuch: not found", "nosuch"),
        ("bash: line 1: nosuch: command not found", "nosuch"),
        ("/work/run.sh: line 7: nosuch: command not found", "nosuch"),
        ("env: \u2018nosuch\u2019: No such file or directory", "nosuch"),
        ("python3: can't open file '/work/train.py': [Errno 2] No such file", "/work/train.py"),
        ("sh: 0: cannot open run.sh: No such file", "run.sh"),
        ("bash: run.sh: No such file or directory", "run.sh"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'data/shard'", None),
        ("page not found", None),
        ("RuntimeError: latest: not found", None),
        ("huggingface_hub: my/model: command not found", None),
        ("step 12: loss 3.2", None),
    ],
)
def test_last_lines_name_what_is_missing(line: str, lacked: str | None) -> None:
    found = missing((line, "trainshed-launch: node 0 ended with exit code 127"))

    assert found == lacked or (found is not None and found.split()[-1] == lacked)


def test_a_queued_job_is_not_told_of_its_environment_what_the_guard_did() -> None:
    found = explain_job(replace(environment(state="DISABLED"), stopped=STOPPED))

    assert [each.rule for each in found if each.rule in ("TS-JOB-004", "TS-JOB-038")] == [
        "TS-JOB-038"
    ]

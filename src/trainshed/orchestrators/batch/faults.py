"""Faults of a job of AWS Batch."""

from collections.abc import Mapping, Sequence
from functools import partial

import psutil

from embedded_aws.embedded import EmbeddedAws
from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.jobs.model import Job, JobState
from trainshed.jobs.nodes import Node
from trainshed.orchestrators import Orchestrator, part
from trainshed.orchestrators.batch.traits import JOB_TYPE_OUTPUT, SINGLE_NODE
from trainshed.rehearse.faults import (
    CHILD,
    FULL_EXPECTED,
    LATE_SECONDS,
    NO_CAPACITY,
    NOTICE_SECONDS,
    Behaviour,
    FaultKind,
    Scene,
    check_in_block,
    child_never_starts,
    copy_ami,
    cut_network,
    end_block,
    fill_storage,
    kill,
    late_main_node,
    processes_with,
)
from trainshed.rehearse.lost_device import LOST_DEVICES, lose_devices
from trainshed.rehearse.unfit_node import MARKING, UNFIT_EXPECTED, lose_oldest

# By which a node knows its number; a job of one container has none.
_INDEX = "{AWS_BATCH_JOB_NODE_INDEX:-0}"
# The instance that the child has first lacks its devices, for as long as it is there.
_LACKS_DEVICES = """
if [ "$AWS_BATCH_JOB_NODE_INDEX:$AWS_BATCH_JOB_ATTEMPT" = {index}:1 ]; then
  touch "$EMBEDDED_AWS_NODE/{lost}"
fi
exec "$@"
"""


def job_image(region: Region, outputs: Mapping[str, str]) -> str:
    """Return the image of a cluster's jobs, which a rehearsal puts there unless it is to miss."""
    definitions = [outputs["JobDefinition"]]
    answer = region.call("batch", "describe_job_definitions", jobDefinitions=definitions)
    [definition] = answer["jobDefinitions"]
    if container := definition.get("containerProperties"):
        return str(container["image"])
    [group] = definition["nodeProperties"]["nodeRangeProperties"]
    return str(group["container"]["image"])


def _lacks_devices(command: tuple[str, ...]) -> tuple[str, ...]:
    script = _LACKS_DEVICES.format(index=CHILD, lost=LOST_DEVICES)
    return ("sh", "-c", script, "lacks-devices", *command)


def child_processes(aws: EmbeddedAws, job: str) -> list[psutil.Process]:
    """Return the processes of the child's command; none before it starts and after it ends.

    A job of one container has no child: those of its own.
    """
    own = {f"{job}#{CHILD}", job}
    return [each for name in own for each in processes_with(aws, "AWS_BATCH_JOB_ID", name)]


def _terminate_host(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    aws.client("ec2").terminate_instances(InstanceIds=[_instance(aws, f"{job}#{CHILD}")])


def _fill_storage(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    main = processes_with(aws, "AWS_BATCH_JOB_ID", f"{job}#0")
    fill_storage([*main, *processes])


def _change_ami(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Give the nodes of the job's compute environment another AMI, as a deployment does."""
    batch = aws.client("batch")
    [described] = batch.describe_jobs(jobs=[job])["jobs"]
    [queue] = batch.describe_job_queues(jobQueues=[described["jobQueue"]])["jobQueues"]
    environment = queue["computeEnvironmentOrder"][0]["computeEnvironment"]
    [found] = batch.describe_compute_environments(computeEnvironments=[environment])[
        "computeEnvironments"
    ]
    [image] = found["computeResources"]["ec2Configuration"]
    copied = copy_ami(aws, image["imageIdOverride"])
    batch.update_compute_environment(
        computeEnvironment=environment,
        computeResources={
            "ec2Configuration": [{**image, "imageIdOverride": copied}],
        },
    )


def _take_back(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Have EC2 take back the instance of a job of one container."""
    aws.notify_spot(_instance(aws, job), seconds=NOTICE_SECONDS)


def _recommend(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    aws.notify_spot(_instance(aws, job), "rebalance")


def _instance(aws: EmbeddedAws, job: str) -> str:
    [described] = aws.client("batch").describe_jobs(jobs=[job])["jobs"]
    return str(described["container"]["containerInstanceArn"]).rpartition("/")[2]


def _check_on_spot(fault: FaultKind, scene: Scene) -> None:
    """Refuse nodes that EC2 does not take back; they come with the job.

    Args:
        fault: that needs such nodes.
        scene: in which it is to happen.

    Raises:
        TrainshedError: they will not be on Spot.
    """
    if scene.outputs.get(JOB_TYPE_OUTPUT) != SINGLE_NODE:
        raise TrainshedError(
            f"--fault {fault}: the nodes of {scene.cluster} are not on Spot, "
            "where AWS Batch runs no multi-node jobs; set capacity: {spot: {}} and "
            "instance.nodes.max to 1 in its file, or leave the fault out"
        )


def _lose_a_node_between_jobs(scene: Scene) -> None:
    """Have the oldest node that has no job do what its idle check does when it lost a device.

    Raises:
        TrainshedError: the cluster has no nodes without a job.
    """
    kept = part(Orchestrator.BATCH, "node_states").kept_nodes(scene.region, scene.outputs)
    if not kept:
        raise TrainshedError(
            f"--fault {FaultKind.UNFIT_NODE}: the nodes of {scene.cluster} are there while a job "
            "runs only; set instance.nodes.min in its file, or leave the fault out"
        )
    lose_oldest(scene, kept, partial(_mark, scene))


def _mark(scene: Scene, node: Node) -> None:
    scene.region.call(
        "ssm",
        "send_command",
        DocumentName="AWS-RunShellScript",
        InstanceIds=[node.instance_id],
        Parameters={"commands": [MARKING]},
    )


def _waits_for_another_block(job: Job) -> bool:
    return job.state is JobState.QUEUED and bool(job.attempts)


def _no_capacity(scene: Scene) -> None:
    scene.aws.fail(NO_CAPACITY)


def _no_log_group(scene: Scene) -> None:
    scene.aws.client("logs").delete_log_group(logGroupName=scene.outputs["LogGroup"])


WITHOUT: Mapping[FaultKind, str] = {}
FAULTS: Mapping[FaultKind, Behaviour] = {
    FaultKind.LATE_MAIN_NODE: Behaviour(
        expected=f"the job starts {LATE_SECONDS} seconds later",
        wrap=partial(late_main_node, _INDEX),
    ),
    FaultKind.CHILD_NEVER_STARTS: Behaviour(
        expected="trainshed-launch names node 1 after its --wait, and the job is tried again",
        wrap=partial(child_never_starts, _INDEX),
        of_child=True,
    ),
    FaultKind.KILL_CHILD: Behaviour(
        expected="trainshed-launch says that node 1 is lost, and the job is tried again",
        during=kill,
        of_child=True,
    ),
    FaultKind.CUT_NETWORK: Behaviour(
        expected="after 30 seconds of silence trainshed-launch says that node 1 is lost, and the "
        "job is tried again",
        during=cut_network,
        of_child=True,
    ),
    FaultKind.TERMINATE_HOST: Behaviour(
        expected="node 1 ends with Host EC2 (instance i-...) terminated., and the job is tried "
        "again",
        during=_terminate_host,
        of_child=True,
    ),
    FaultKind.LOST_DEVICE: Behaviour(
        expected="trainshed-launch says which devices node 1 lost while the command ran, the exit "
        "code is 197, node 1's instance powers off, and the job is tried again, with another in "
        "its place",
        during=partial(lose_devices, child_processes),
        of_child=True,
    ),
    FaultKind.UNFIT_NODE: Behaviour(expected=UNFIT_EXPECTED, before=_lose_a_node_between_jobs),
    FaultKind.FULL_STORAGE: Behaviour(
        expected=FULL_EXPECTED,
        during=_fill_storage,
    ),
    FaultKind.CHANGED_AMI: Behaviour(
        expected="the job goes on to its end on its nodes, and AWS Batch gives the other AMI to "
        "those that it launches later",
        during=_change_ami,
    ),
    FaultKind.SPOT_INTERRUPTION: Behaviour(
        expected="trainshed-launch ends the command before the deadline, the exit code is 197, and "
        "the job is tried again on another node",
        before=partial(_check_on_spot, FaultKind.SPOT_INTERRUPTION),
        during=_take_back,
    ),
    FaultKind.REBALANCE: Behaviour(
        expected="trainshed-launch says that EC2 may take this node back, and the job goes on",
        before=partial(_check_on_spot, FaultKind.REBALANCE),
        during=_recommend,
    ),
    FaultKind.BLOCK_END: Behaviour(
        expected="all nodes end, without a notice to the job; the main node with Host EC2 "
        "(instance i-...) terminated.; the job is tried again, waits for another block, and job "
        "why says so (TS-JOB-011)",
        before=check_in_block,
        during=end_block,
        shows=_waits_for_another_block,
    ),
    FaultKind.INSUFFICIENT_CAPACITY: Behaviour(
        expected="the job waits in RUNNABLE, until the queue's time limit cancels it",
        before=_no_capacity,
    ),
    FaultKind.MISSING_LOG_GROUP: Behaviour(
        expected="each attempt fails with CannotStartContainerError", before=_no_log_group
    ),
    FaultKind.MISSING_IMAGE: Behaviour(expected="each attempt fails with CannotPullContainerError"),
    FaultKind.MISSING_DEVICE: Behaviour(
        expected="trainshed-launch names node 1 and the devices it lacks, the exit code is 197, "
        "node 1's instance powers off, and the job is tried again, with another in its place",
        wrap=_lacks_devices,
        of_child=True,
    ),
}

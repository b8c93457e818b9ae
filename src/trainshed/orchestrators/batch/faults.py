"""Faults of a job of AWS Batch."""

from collections.abc import Mapping, Sequence
from functools import partial

import psutil

from embedded_aws.embedded import EmbeddedAws
from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.orchestrators.batch.traits import JOB_TYPE_OUTPUT, SINGLE_NODE
from trainshed.rehearse.faults import (
    CHILD,
    LATE_SECONDS,
    NO_CAPACITY,
    NOTICE_SECONDS,
    Behaviour,
    FaultKind,
    Scene,
    child_never_starts,
    cut_network,
    kill,
    late_main_node,
    processes_with,
)

# By which a node knows its number; a job of one container has none.
_INDEX = "{AWS_BATCH_JOB_NODE_INDEX:-0}"
# The instance that the child has first lacks its devices, for as long as it is there. There the
# variable says what our images for accelerators say, whichever it is: trainshed-launch then looks
# for the devices that the job definition counts on.
_LACKS_DEVICES = """
if [ "$AWS_BATCH_JOB_NODE_INDEX:$AWS_BATCH_JOB_ATTEMPT" = {index}:1 ]; then
  touch "$EMBEDDED_AWS_NODE/lacks-devices"
fi
if [ -e "$EMBEDDED_AWS_NODE/lacks-devices" ]; then export TRAINSHED_ACCELERATOR=any; fi
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
    return ("sh", "-c", _LACKS_DEVICES.format(index=CHILD), "lacks-devices", *command)


def child_processes(aws: EmbeddedAws, job: str) -> list[psutil.Process]:
    """Return the processes of the child's command; none before it starts and after it ends.

    A job of one container has no child: those of its own.
    """
    own = {f"{job}#{CHILD}", job}
    return [each for name in own for each in processes_with(aws, "AWS_BATCH_JOB_ID", name)]


def _terminate_host(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    aws.client("ec2").terminate_instances(InstanceIds=[_instance(aws, f"{job}#{CHILD}")])


def _take_back(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Have EC2 take back the instance of a job of one container."""
    aws.notify_spot(_instance(aws, job), seconds=NOTICE_SECONDS)


def _instance(aws: EmbeddedAws, job: str) -> str:
    [described] = aws.client("batch").describe_jobs(jobs=[job])["jobs"]
    return str(described["container"]["containerInstanceArn"]).rpartition("/")[2]


def _check_on_spot(scene: Scene) -> None:
    """Refuse nodes that EC2 does not take back; they come with the job.

    Raises:
        TrainshedError: they will not be on Spot.
    """
    if scene.outputs.get(JOB_TYPE_OUTPUT) != SINGLE_NODE:
        raise TrainshedError(
            f"--fault {FaultKind.SPOT_INTERRUPTION}: the nodes of {scene.cluster} are not on Spot, "
            "where AWS Batch runs no multi-node jobs; set capacity: {spot: {}} and "
            "instance.nodes.max to 1 in its file, or leave the fault out"
        )


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
    FaultKind.SPOT_INTERRUPTION: Behaviour(
        expected="trainshed-launch ends the command before the deadline, the exit code is 197, and "
        "the job is tried again on another node",
        before=_check_on_spot,
        during=_take_back,
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

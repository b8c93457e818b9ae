"""Faults of a job on plain EC2 nodes."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import psutil

from embedded_aws.embedded import EmbeddedAws
from trainshed.catalogue import lookup
from trainshed.jobs.nodes import Node
from trainshed.jobs.scheduler import find_scheduler
from trainshed.jobs.submission import Submission
from trainshed.nodes.devices import node_devices
from trainshed.rehearse.faults import (
    CHILD,
    FULL_EXPECTED,
    NOTICE_SECONDS,
    Behaviour,
    FaultKind,
    Scene,
    check_in_block,
    check_on_spot,
    copy_ami,
    end_block,
    fill_storage,
    kill,
    processes_with,
)
from trainshed.rehearse.unfit_node import MARKING, UNFIT_EXPECTED, lose_oldest

# What user data write: how many devices of each kind a node must have. Nodes of a rehearsal, whose
# boot is a stand-in, have no such file until they lose what it names.
_SETTINGS = "etc/trainshed/first-boot.json"


def child_processes(aws: EmbeddedAws, job: str) -> list[psutil.Process]:
    """Return the processes of the child's command; none before it starts and after it ends."""
    # There is one job.
    return processes_with(aws, "NODE_RANK", str(CHILD))


def _take_back(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    aws.notify_spot(_instance_of(processes), seconds=NOTICE_SECONDS)


def _recommend(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    aws.notify_spot(_instance_of(processes), "rebalance")


def _lose_device(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Have the instance of the child lose its accelerators, by which its command fails."""
    [found] = aws.client("ec2").describe_instances(InstanceIds=[_instance_of(processes)])[
        "Reservations"
    ]
    devices = node_devices(lookup(found["Instances"][0]["InstanceType"]), ())
    settings = Path(processes[0].environ()["EMBEDDED_AWS_NODE"], _SETTINGS)
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"devices": devices}), encoding="utf-8")
    kill(aws, job, processes)


def _change_ami(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Give the group of the nodes another AMI, as a deployment does."""
    ec2, scaling = aws.client("ec2"), aws.client("autoscaling")
    [member] = scaling.describe_auto_scaling_instances(InstanceIds=[_instance_of(processes)])[
        "AutoScalingInstances"
    ]
    template = member["LaunchTemplate"]
    [found] = ec2.describe_launch_template_versions(
        LaunchTemplateId=template["LaunchTemplateId"], Versions=[template["Version"]]
    )["LaunchTemplateVersions"]
    copied = copy_ami(aws, found["LaunchTemplateData"]["ImageId"])
    made = ec2.create_launch_template_version(
        LaunchTemplateId=template["LaunchTemplateId"],
        SourceVersion=template["Version"],
        LaunchTemplateData={"ImageId": copied},
    )["LaunchTemplateVersion"]
    scaling.update_auto_scaling_group(
        AutoScalingGroupName=member["AutoScalingGroupName"],
        LaunchTemplate={
            "LaunchTemplateId": template["LaunchTemplateId"],
            "Version": str(made["VersionNumber"]),
        },
    )


def _fill_storage(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    fill_storage([*processes_with(aws, "NODE_RANK", "0"), *processes])


def _instance_of(processes: Sequence[psutil.Process]) -> str:
    """Return the instance of processes, in whose folder its node's files are."""
    return Path(processes[0].environ()["EMBEDDED_AWS_NODE"]).parent.name


def _lose_a_node_between_jobs(scene: Scene) -> None:
    """Have the oldest node do what its idle check does when it has lost a device."""
    scheduler = find_scheduler(scene.region, scene.cluster)
    job = Submission(name="idle-check", command=("sh", "-c", MARKING), nodes=1)

    def mark(_: Node) -> None:
        # It runs on the oldest of those that have no job.
        scheduler.submit(job)

    lose_oldest(scene, scheduler.most_nodes(), mark)


FAULTS: Mapping[FaultKind, Behaviour] = {
    FaultKind.UNFIT_NODE: Behaviour(expected=UNFIT_EXPECTED, before=_lose_a_node_between_jobs),
    FaultKind.SPOT_INTERRUPTION: Behaviour(
        expected="trainshed-launch ends the command on every node before the deadline, and the job "
        "with exit code 197; another node takes the place of the one that EC2 takes back, and the "
        "job, submitted again, goes on from its checkpoint",
        before=partial(check_on_spot, FaultKind.SPOT_INTERRUPTION),
        during=_take_back,
        of_child=True,
    ),
    FaultKind.REBALANCE: Behaviour(
        expected="trainshed-launch says that EC2 may take node 1 back, and the job goes on, with "
        "all of its nodes",
        before=partial(check_on_spot, FaultKind.REBALANCE),
        during=_recommend,
        of_child=True,
    ),
    FaultKind.LOST_DEVICE: Behaviour(
        expected="trainshed-launch says which devices node 1 lost while the command ran, the job "
        "fails with exit code 197, and node 1's instance powers off; another takes its place",
        during=_lose_device,
        of_child=True,
    ),
    FaultKind.CHANGED_AMI: Behaviour(
        expected="the job goes on to its end on its nodes, and EC2 Auto Scaling gives the other "
        "AMI to those that it launches later",
        during=_change_ami,
        of_child=True,
    ),
    FaultKind.FULL_STORAGE: Behaviour(expected=FULL_EXPECTED, during=_fill_storage, of_child=True),
    FaultKind.BLOCK_END: Behaviour(
        expected="the job fails with its nodes, without a notice to it, and none are launched in "
        "their place",
        before=check_in_block,
        during=end_block,
    ),
}
WITHOUT: Mapping[FaultKind, str] = {}

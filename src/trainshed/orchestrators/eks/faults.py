"""Faults of a job on Amazon EKS."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial

import psutil

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.hosts.user_namespace import entering
from trainshed.account.tags import CLUSTER_LABEL
from trainshed.aws import Region
from trainshed.jobs.model import Job, JobState
from trainshed.kubernetes.applied import delete_applied, find_applied
from trainshed.kubernetes.client import asking, connect
from trainshed.kubernetes.cluster import find_cluster
from trainshed.kubernetes.object_names import kind_of
from trainshed.orchestrators.eks.faulty_node import fail_a_node_between_jobs
from trainshed.orchestrators.eks.noticed import has_devices, node_group, wait_for_nodes
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
    check_on_spot,
    child_never_starts,
    copy_ami,
    cut_network,
    end_block,
    fill_storage,
    kill,
    late_main_node,
    processes_with,
)
from trainshed.rehearse.lost_device import lose_devices

# By which a pod knows its number: Kubernetes, "Indexed Job".
_INDEX = "JOB_COMPLETION_INDEX"


def job_image(region: Region, outputs: Mapping[str, str]) -> str:
    """Return the image of a cluster's jobs, which a rehearsal puts there."""
    return outputs["Image"]


def child_processes(aws: EmbeddedAws, job: str) -> list[psutil.Process]:
    """Return the processes of the child's pod; none before it starts and after it ends."""
    # There is one job.
    return processes_with(aws, _INDEX, str(CHILD))


def _terminate_node(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Terminate the instance of a pod."""
    aws.client("ec2").terminate_instances(InstanceIds=[_instance_of(aws, processes)])


def _take_back(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Have EC2 take back the instance of a pod."""
    aws.notify_spot(_instance_of(aws, processes), seconds=NOTICE_SECONDS)


def _recommend(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    aws.notify_spot(_instance_of(aws, processes), "rebalance")


def _fill_storage(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    fill_storage([*processes_with(aws, _INDEX, "0"), *processes])


def _change_ami(aws: EmbeddedAws, job: str, processes: Sequence[psutil.Process]) -> None:
    """Give the node group of a pod another AMI, as a deployment does."""
    ec2, eks = aws.client("ec2"), aws.client("eks")
    [found] = ec2.describe_instances(InstanceIds=[_instance_of(aws, processes)])["Reservations"]
    tags = {each["Key"]: each["Value"] for each in found["Instances"][0]["Tags"]}
    named = {
        "clusterName": tags["eks:cluster-name"],
        "nodegroupName": tags["eks:nodegroup-name"],
    }
    template = eks.describe_nodegroup(**named)["nodegroup"]["launchTemplate"]
    made = ec2.create_launch_template_version(
        LaunchTemplateId=template["id"],
        SourceVersion=template["version"],
        LaunchTemplateData={"ImageId": copy_ami(aws, found["Instances"][0]["ImageId"])},
    )["LaunchTemplateVersion"]
    changed = {"id": template["id"], "version": str(made["VersionNumber"])}
    eks.update_nodegroup_version(**named, launchTemplate=changed)


def _instance_of(aws: EmbeddedAws, processes: Sequence[psutil.Process]) -> str:
    """Return the instance of a pod, which has one of the addresses of its interface."""
    show = ["ip", "-json", "-4", "address", "show", "eth0"]
    shown = subprocess.run(
        [*entering(processes[0].pid, "net"), *show], check=True, capture_output=True
    )
    own = {each["local"] for each in json.loads(shown.stdout)[0]["addr_info"]}
    interfaces = aws.client("ec2").describe_network_interfaces()["NetworkInterfaces"]
    [instance] = {
        str(found["Attachment"]["InstanceId"])
        for found in interfaces
        if own & {each["PrivateIpAddress"] for each in found["PrivateIpAddresses"]}
    }
    return instance


def _take_nodes(scene: Scene) -> None:
    """Terminate instances, and launch none in their place, so that the job has a node too few.

    EC2 had them all when the node group was created: without, EKS refuses it (containers-roadmap,
    issue 2204).
    """
    group = node_group(scene)
    names = [each["name"] for each in group["resources"]["autoScalingGroups"]]
    [scaling] = scene.region.pages(
        "autoscaling",
        "describe_auto_scaling_groups",
        "AutoScalingGroups",
        AutoScalingGroupNames=names,
    )
    there = [each["InstanceId"] for each in scaling["Instances"]]
    scene.aws.fail(NO_CAPACITY)
    scene.aws.client("ec2").terminate_instances(InstanceIds=there[scene.nodes - 1 :])
    wait_for_nodes(scene, lambda nodes: len(nodes) < scene.nodes)


def _end_device_plugins(scene: Scene) -> None:
    """Delete the device plugins of the cluster: its nodes then promise no device."""
    eks = find_cluster(scene.region, scene.outputs["EksCluster"])
    with connect(eks) as client, asking(eks):
        for each in find_applied(client, {CLUSTER_LABEL: scene.cluster}):
            if kind_of(each) == "DaemonSet":
                delete_applied(client, each)
    wait_for_nodes(scene, lambda nodes: not any(map(has_devices, nodes)))


def _waits_for_nodes(job: Job) -> bool:
    return job.state is JobState.QUEUED and job.reason is not None


def _waits_for_nodes_again(job: Job) -> bool:
    return _waits_for_nodes(job) and bool(job.attempts)


def _waits_for_its_image(job: Job) -> bool:
    return job.state is JobState.STARTING and "ImagePull" in (job.reason or "")


WITHOUT: Mapping[FaultKind, str] = {
    FaultKind.MISSING_LOG_GROUP: "pods start without a log group: kubelets keep what they print",
}
FAULTS: Mapping[FaultKind, Behaviour] = {
    FaultKind.LATE_MAIN_NODE: Behaviour(
        expected=f"the job starts {LATE_SECONDS} seconds later",
        wrap=partial(late_main_node, _INDEX),
    ),
    FaultKind.CHILD_NEVER_STARTS: Behaviour(
        expected="trainshed-launch names node 1 after its --wait, and all nodes start again",
        wrap=partial(child_never_starts, _INDEX),
        of_child=True,
    ),
    FaultKind.KILL_CHILD: Behaviour(
        expected="node 1 ends with exit code 137, by which JobSet ends the job at once",
        during=kill,
        of_child=True,
    ),
    FaultKind.CUT_NETWORK: Behaviour(
        expected="after 30 seconds of silence trainshed-launch says that node 1 is lost, and all "
        "nodes start again",
        during=cut_network,
        of_child=True,
    ),
    FaultKind.TERMINATE_HOST: Behaviour(
        expected="the node of node 1 is gone, and all nodes start again once another one is there",
        during=_terminate_node,
        of_child=True,
    ),
    FaultKind.SPOT_INTERRUPTION: Behaviour(
        expected="trainshed-launch ends the command on every node before the deadline, and all "
        "nodes start again, once another one has taken the place of the one that EC2 takes back",
        before=partial(check_on_spot, FaultKind.SPOT_INTERRUPTION),
        during=_take_back,
        of_child=True,
    ),
    FaultKind.REBALANCE: Behaviour(
        expected="the job goes on until EKS has another node and drains the one of node 1; then "
        "trainshed-launch ends the command on every node, and all start again",
        before=partial(check_on_spot, FaultKind.REBALANCE),
        during=_recommend,
        of_child=True,
    ),
    FaultKind.CHANGED_AMI: Behaviour(
        expected="EKS drains and exchanges one node after another: each time trainshed-launch ends "
        "the command on every node, and all nodes start again once the other node is there, while "
        "job.attempts lasts",
        during=_change_ami,
    ),
    FaultKind.UNFIT_NODE: Behaviour(
        expected="EKS drains and replaces the node whose accelerator its agent finds faulty, and "
        "the job runs on nodes that are well",
        before=fail_a_node_between_jobs,
    ),
    FaultKind.LOST_DEVICE: Behaviour(
        expected="trainshed-launch says which devices node 1 lost while the command ran, node 1's "
        "instance powers off, and all nodes start again once another one is there",
        during=partial(lose_devices, child_processes),
        of_child=True,
    ),
    FaultKind.FULL_STORAGE: Behaviour(expected=FULL_EXPECTED, during=_fill_storage, of_child=True),
    FaultKind.BLOCK_END: Behaviour(
        expected="EKS drains the nodes before EC2 ends them: trainshed-launch ends the command on "
        "every node, the job waits, and job why says that nodes are cordoned or missing "
        "(TS-JOB-034)",
        before=check_in_block,
        during=end_block,
        shows=_waits_for_nodes_again,
    ),
    FaultKind.INSUFFICIENT_CAPACITY: Behaviour(
        expected="the job waits with a node too few, and job why quotes EC2 (TS-JOB-035)",
        before=_take_nodes,
        shows=_waits_for_nodes,
    ),
    FaultKind.MISSING_IMAGE: Behaviour(
        expected="the pods have nodes and do not start, and job why quotes the kubelet "
        "(TS-JOB-037)",
        shows=_waits_for_its_image,
    ),
    FaultKind.MISSING_DEVICE: Behaviour(
        expected="the job waits though all nodes are there, and job why says what they lack "
        "(TS-JOB-036)",
        before=_end_device_plugins,
        shows=_waits_for_nodes,
    ),
}

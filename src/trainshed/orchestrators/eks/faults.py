"""Faults of a job on Amazon EKS."""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic, sleep

import psutil

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.hosts.user_namespace import entering
from trainshed.account.tags import CLUSTER_LABEL
from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.jobs.model import Job, JobState
from trainshed.kubernetes.applied import delete_applied, find_applied
from trainshed.kubernetes.client import asking, connect
from trainshed.kubernetes.cluster import find_cluster
from trainshed.kubernetes.nodes import KubernetesNode, find_nodes
from trainshed.kubernetes.object_names import kind_of
from trainshed.rehearse.faults import (
    CHILD,
    LATE_SECONDS,
    NO_CAPACITY,
    NOTICE_SECONDS,
    Behaviour,
    FaultKind,
    Scene,
    check_on_spot,
    child_never_starts,
    cut_network,
    kill,
    late_main_node,
    processes_with,
)

# By which a pod knows its number: Kubernetes, "Indexed Job".
_INDEX = "JOB_COMPLETION_INDEX"
# Until Kubernetes has noticed what happened to nodes, which takes it some seconds here.
_NOTICED_SECONDS, _LOOK_SECONDS = 120, 0.25


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
    group = scene.region.call(
        "eks",
        "describe_nodegroup",
        clusterName=scene.outputs["EksCluster"],
        nodegroupName=scene.outputs["NodeGroup"],
    )["nodegroup"]
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
    _wait_until(scene, lambda nodes: len(nodes) < scene.nodes)


def _end_device_plugins(scene: Scene) -> None:
    """Delete the device plugins of the cluster: its nodes then promise no device."""
    eks = find_cluster(scene.region, scene.outputs["EksCluster"])
    with connect(eks) as client, asking(eks):
        for each in find_applied(client, {CLUSTER_LABEL: scene.cluster}):
            if kind_of(each) == "DaemonSet":
                delete_applied(client, each)
    _wait_until(scene, lambda nodes: not any(map(_has_devices, nodes)))


def _has_devices(node: KubernetesNode) -> bool:
    # Kubernetes, "Device Plugins": the names of devices begin with the domain of their vendor.
    return any(count != "0" for name, count in node.allocatable.items() if "/" in name)


def _wait_until(scene: Scene, holds: Callable[[tuple[KubernetesNode, ...]], bool]) -> None:
    """Wait until something is true of the cluster's nodes: a job would begin before."""
    eks = find_cluster(scene.region, scene.outputs["EksCluster"])
    last = monotonic() + _NOTICED_SECONDS
    with connect(eks) as client:
        while not holds(find_nodes(client, eks, scene.cluster)):
            if monotonic() > last:
                raise Failure(
                    f"Kubernetes has not noticed the fault within {_NOTICED_SECONDS} seconds; run "
                    "the rehearsal again when this machine has less to do"
                )
            sleep(_LOOK_SECONDS)


def _waits_for_nodes(job: Job) -> bool:
    return job.state is JobState.QUEUED and job.reason is not None


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
        before=check_on_spot,
        during=_take_back,
        of_child=True,
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

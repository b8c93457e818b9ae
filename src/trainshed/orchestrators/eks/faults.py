"""Faults of a job on Amazon EKS."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial

import psutil

from embedded_aws.embedded import EmbeddedAws
from trainshed.aws import Region
from trainshed.rehearse.faults import (
    CHILD,
    LATE_SECONDS,
    Behaviour,
    FaultKind,
    child_never_starts,
    cut_network,
    kill,
    late_main_node,
    processes_with,
)

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
    """Terminate the instance of a pod, which has one of the addresses of its interface."""
    enter = ["nsenter", f"--target={processes[0].pid}", "--net"]
    shown = subprocess.run(
        [*enter, "ip", "-json", "-4", "address", "show", "eth0"], check=True, capture_output=True
    )
    own = {each["local"] for each in json.loads(shown.stdout)[0]["addr_info"]}
    ec2 = aws.client("ec2")
    for found in ec2.describe_network_interfaces()["NetworkInterfaces"]:
        if own & {each["PrivateIpAddress"] for each in found["PrivateIpAddresses"]}:
            ec2.terminate_instances(InstanceIds=[found["Attachment"]["InstanceId"]])


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
}

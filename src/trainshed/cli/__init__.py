"""The command line: one module per command group, loaded only when its command is called.

A group is a module of this package with a `typer.Typer(add_completion=False)` called `app`, and a
line in `GROUPS`. An `app` of one command is that command. Nothing here takes time to
load: what stops a command while `command_line` loads ends it as it does later.
"""

import signal
import sys

from trainshed.stopping import on_stop

GROUPS = {
    "init": "Write a small CDK project of your own.",
    "check": "Why AWS would refuse a cluster, or its jobs would hang: no account needed.",
    "lint": "Judge CloudFormation, eksctl and ParallelCluster files: no account needed.",
    "rule": "A rule by its id, such as TS-NET-001: why, an example, what to do, sources.",
    "review": "What a change does, for its reviewer: risks, resources, permissions, cost.",
    "comment": "Post a review's report to the pull or merge request of this CI job.",
    "preflight": "Why your account would refuse a cluster: quotas, zones, AMI, image, network.",
    "cost": "What a cluster costs, per hour, per month and for one run.",
    "estimate": "How fast a training is, how long it takes and what it costs, as published.",
    "explain": "A cluster's interfaces, addresses and decisions, each with its reason.",
    "catalogue": "What AWS says about the instance types that train models.",
    "ami": "AMIs: bake, test, publish, roll back, remove.",
    "offline": "An AWS on this machine: no account, no network, no cost.",
    "rehearse": "A job of a cluster on this machine, before you pay for a node.",
    "up": "From an empty account to a first job: the steps that are not done yet.",
    "apply": "Bring a deployed cluster to what its file says now.",
    "status": "How a cluster is now, on one screen: stacks, nodes, jobs, storage, alarms, cost.",
    "top": "What all nodes of a cluster do now: accelerators, memory, temperature, EFA.",
    "job": "Jobs of a cluster: submit, watch, logs, cancel, why one fails; a shell on its nodes.",
    "node": "A node of a cluster: drained, rebooted, replaced.",
    "kube": "Kubernetes of a cluster on Amazon EKS: what it needs, kubectl, what nodes have.",
    "bench": "Logs of collective benchmarks: read, judged, drawn.",
    "container": "Container images: built, compared with AMIs, pushed to a cluster's repository.",
    "upgrade": "What another version of trainshed would change in your project.",
    "teardown": "Delete a cluster's stacks. Data stays.",
    "orphans": "What trainshed left in an account that nothing owns, its price, what removes it.",
}


def main() -> None:
    """Run the command line.

    It exits with 0 when clean, 1 on findings or a failure, 2 on wrong input, and 128 + n when it
    has cleaned up after signal n.
    """
    code, asked = 128 + signal.SIGINT, list[int]()

    def interrupt(number: int) -> None:
        asked.append(number)
        raise KeyboardInterrupt

    with on_stop(interrupt):
        try:
            from trainshed.cli.command_line import run

            code = run()
        except KeyboardInterrupt:
            pass
    sys.exit(128 + asked[0] if asked else code)

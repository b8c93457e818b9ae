"""`trainshed job shell`: a shell, or a program, on a node of a cluster, by Session Manager."""

import json
import os
import shlex
import shutil
from typing import Annotated

import typer

from trainshed.ami.prerequisites import PLUGIN, PLUGIN_PAGE
from trainshed.aws import Region
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    load_cluster,
)
from trainshed.cli.output import say
from trainshed.errors import Failure, TrainshedError
from trainshed.jobs.nodes import pick_node, running_nodes

# Where to get what Session Manager needs on this machine.
_PROGRAMS = {
    "aws": "the AWS CLI, https://docs.aws.amazon.com/cli/latest/userguide/"
    "getting-started-install.html",
    PLUGIN: f"the Session Manager plugin of the AWS CLI, {PLUGIN_PAGE}",
}
# Systems Manager user guide, "Start a session (interactive and noninteractive commands)".
_DOCUMENT = "AWS-StartInteractiveCommand"


def shell(
    cluster: ClusterArgument,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            help="After --: a program to run there, and its arguments.", show_default="a shell"
        ),
    ] = None,
    node: Annotated[
        str,
        typer.Option(
            help="Number of a running node, the oldest is 0; or an instance id; or an address, "
            "as logs of jobs name nodes.",
            metavar="NODE",
        ),
    ] = "0",
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
) -> None:
    """Open a shell on a node of a cluster, or run a program there, by Session Manager.

    Without ssh, keys or open ports. You are ssm-user there, who may use sudo. It needs the AWS CLI
    with its Session Manager plugin, ec2:DescribeInstances, and ssm:StartSession on the node.
    """
    plan = load_cluster(cluster, clusters, region)
    if os.environ.get("AWS_ENDPOINT_URL"):
        raise TrainshedError(
            "AWS_ENDPOINT_URL is set, and only AWS itself has Session Manager: the embedded AWS "
            "has none; its jobs run on this machine, where ps shows them"
        )
    for program, where in _PROGRAMS.items():
        if not shutil.which(program):
            raise TrainshedError(f"{program} is not on PATH; install {where}")
    nodes = running_nodes(Region(plan.region), plan.name)
    if not nodes:
        raise Failure(
            f"no node of {plan.name} runs in {plan.region}; nodes of AWS Batch come with a job: "
            f"trainshed job submit {cluster}"
        )
    chosen = pick_node(nodes, node)
    boot = f", boot: {chosen.boot}" if chosen.boot else ""
    say(
        f"node {nodes.index(chosen)} of {len(nodes)}: {chosen.instance_id}, {chosen.address}{boot}",
        err=True,
    )
    words = ["aws", "ssm", "start-session", "--region", plan.region]
    words += ["--target", chosen.instance_id]
    if command:
        parameters = json.dumps({"command": [shlex.join(command)]})
        words += ["--document-name", _DOCUMENT, "--parameters", parameters]
    # In the place of this process: Ctrl-C is for what runs there.
    os.execvp(words[0], words)

"""Its nodes in the stack of a cluster."""

import json

import aws_cdk as cdk
from aws_cdk import aws_autoscaling as autoscaling

from trainshed_constructs import NodeRole
from trainshed_constructs.compute.job_logs import job_logs
from trainshed_stacks.node_launch import NodeLaunch
from trainshed_stacks.outputs import add_outputs

ShellGroup = autoscaling.CfnAutoScalingGroup


def add_shell(stack: cdk.Stack, launch: NodeLaunch) -> ShellGroup:
    """Add a group of nodes."""
    cluster, logs = launch.plan, job_logs(stack, "ShellLogs")
    role = NodeRole(stack, "NodeRole", log_group=logs)
    launch.first_boot.grant(role.role)
    template = launch.template(
        image_id=launch.image_id,
        instance_type=cluster.instance.name,
        instance_profile_arn=role.profile.attr_arn,
        placement_group_name=launch.placement_group_name(),
    )
    size = str(cluster.nodes.max)
    group = ShellGroup(
        stack,
        "Group",
        min_size=size,
        max_size=size,
        vpc_zone_identifier=[launch.subnet.subnet_id],
        launch_template=ShellGroup.LaunchTemplateSpecificationProperty(
            launch_template_id=template.launch_template_id, version=template.latest_version
        ),
    )
    cdk.Validations.of(group).acknowledge(
        cdk.Acknowledgment(id="AwsSolutions-AS3", reason="the group never scales")
    )
    add_outputs(
        stack,
        cluster.name,
        cluster.orchestrator,
        NodeGroup=("Group of the nodes", group.ref),
        LogGroup=("Output of the jobs", logs.log_group_name),
        JobEnvironment=("Variables of the jobs", json.dumps(dict(cluster.jobs.environment))),
    )
    return group

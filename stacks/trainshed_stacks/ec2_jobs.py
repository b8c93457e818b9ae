"""A cluster of plain EC2 nodes, on which `trainshed job` starts jobs by Systems Manager."""

import aws_cdk as cdk

from trainshed.plan import Ec2Plan
from trainshed_constructs import Ec2Cluster, FailedBootLimit, suspend_launches
from trainshed_stacks.node_launch import NodeLaunch
from trainshed_stacks.outputs import add_outputs


def add_ec2(stack: cdk.Stack, launch: NodeLaunch, plan: Ec2Plan) -> Ec2Cluster:
    """Add the nodes, and the document that starts jobs on them, to a cluster's stack.

    Args:
        stack: of the cluster.
        launch: what its nodes are launched with.
        plan: how many they are, and what jobs get.
    """
    spec = launch.plan.spec
    cluster = Ec2Cluster(
        stack,
        "Ec2",
        group_name=spec.name,
        nodes=plan.nodes,
        environment=plan.environment,
        timeout=cdk.Duration.hours(plan.timeout_hours),
        buckets=spec.job.buckets,
        policies=spec.job.policies,
    )
    launch.first_boot.grant(cluster.instance_role)
    template = launch.template(
        image_id=launch.image_id,
        instance_type=launch.plan.instance.name,
        instance_profile_arn=cluster.instance_profile_arn,
        placement_group_name=launch.placement_group_name(),
    )
    limit = FailedBootLimit(
        stack,
        "FailedBoots",
        cluster=spec.name,
        stop=suspend_launches(cluster.group_name),
        limit=launch.plan.failed_boot_limit,
        hours=launch.plan.failed_boot_hours,
    )
    cluster.launch(
        subnet=launch.subnet,
        launch_template_id=template.launch_template_id,
        launch_template_version=template.latest_version,
        boot_timeout=cdk.Duration.minutes(plan.boot_minutes),
    )
    # The creation of the group lasts until its nodes have booted: it counts those that fail, too.
    cluster.group.node.add_dependency(limit)
    add_outputs(
        stack,
        spec.name,
        JobDocument=("Document that starts a job on nodes", cluster.document_name),
        NodeGroup=("Auto Scaling group of the nodes", cluster.group_name),
        LogGroup=("Output of the jobs", cluster.log_group.log_group_name),
    )
    return cluster

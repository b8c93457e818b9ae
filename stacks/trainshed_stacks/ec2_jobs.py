"""A cluster of plain EC2 nodes, on which `trainshed job` starts jobs by Systems Manager."""

import aws_cdk as cdk

from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.ec2.plan import Ec2Plan
from trainshed.plan import CapacityKind
from trainshed_constructs import Ec2Cluster, FailedBootLimit, suspend_launches
from trainshed_stacks.data_bucket import job_buckets, job_variables, let_jobs_use_key
from trainshed_stacks.node_launch import NodeLaunch
from trainshed_stacks.outputs import add_outputs


def add_ec2(stack: cdk.Stack, launch: NodeLaunch, plan: Ec2Plan) -> Ec2Cluster:
    """Add the nodes, and the document that starts jobs on them, to a cluster's stack.

    Args:
        stack: of the cluster.
        launch: what its nodes are launched with.
        plan: how many they are, and what jobs get.
    """
    cluster = launch.plan
    ec2 = Ec2Cluster(
        stack,
        "Ec2",
        group_name=cluster.name,
        nodes=cluster.nodes.max,
        environment={**plan.environment, **job_variables(cluster)},
        timeout=cdk.Duration.hours(plan.timeout_hours),
        buckets=job_buckets(cluster),
        policies=cluster.job_access.policies,
    )
    launch.let_boot(ec2.instance_role)
    let_jobs_use_key(cluster, ec2.instance_role)
    template = launch.template(
        image_id=launch.image_id,
        instance_type=cluster.instance.name,
        instance_profile_arn=ec2.instance_profile_arn,
        placement_group_name=launch.placement_group_name(),
    )
    limit = FailedBootLimit(
        stack,
        "FailedBoots",
        cluster=cluster.name,
        stop=suspend_launches(ec2.group_name),
        limit=cluster.failed_boot_limit,
        hours=cluster.failed_boot_hours,
    )
    others = [each.name for each in cluster.capacity.other_types]
    ec2.launch(
        subnet=launch.subnet,
        launch_template_id=template.launch_template_id,
        launch_template_version=template.latest_version,
        boot_timeout=cdk.Duration.minutes(plan.boot_minutes),
        instance_types=[cluster.instance.name, *others] if others else (),
        spot=cluster.capacity.kind is CapacityKind.SPOT,
        max_price=cluster.capacity.max_price,
        metrics=cluster.monitoring,
    )
    # The creation of the group lasts until its nodes have booted: it counts those that fail, too.
    ec2.group.node.add_dependency(limit)
    add_outputs(
        stack,
        cluster.name,
        Orchestrator.EC2,
        JobDocument=("Document that starts a job on nodes", ec2.document_name),
        NodeGroup=("Auto Scaling group of the nodes", ec2.group_name),
        LogGroup=("Output of the jobs", ec2.log_group.log_group_name),
    )
    return ec2

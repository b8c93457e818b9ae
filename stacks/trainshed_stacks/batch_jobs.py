"""A cluster whose jobs AWS Batch starts."""

from dataclasses import replace
from functools import partial

import aws_cdk as cdk

from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.batch.plan import BatchPlan
from trainshed.orchestrators.batch.traits import JOB_TYPE_OUTPUT, SINGLE_NODE
from trainshed.plan import CapacityKind, RepositoryPlan
from trainshed_constructs import (
    BatchMultiNode,
    BatchSpotNode,
    ContainerImageNotice,
    FailedBootLimit,
    disable_environment,
    grant_pull,
)
from trainshed_stacks.data_bucket import job_buckets, job_variables, let_jobs_use_key
from trainshed_stacks.job_image import job_image
from trainshed_stacks.node_launch import NodeLaunch
from trainshed_stacks.outputs import add_outputs


def add_batch(
    stack: cdk.Stack, launch: NodeLaunch, plan: BatchPlan
) -> BatchSpotNode | BatchMultiNode:
    """Add AWS Batch to a cluster's stack: compute environment, queue and job definition.

    Args:
        stack: of the cluster.
        launch: what its nodes are launched with.
        plan: what AWS Batch needs.
    """
    cluster = launch.plan
    template = launch.template(buys_spot=False)
    image_uri, repository = job_image(stack, plan.image, plan.repository)
    construct: partial[BatchSpotNode] | partial[BatchMultiNode] = (
        partial(
            BatchMultiNode,
            nodes=cluster.nodes,
            placement_group_name=launch.placement_group_name(),
            capacity_block=cluster.capacity.kind is CapacityKind.CAPACITY_BLOCK,
            waits_for_window=bool(cluster.capacity.calendar),
        )
        if plan.multi_node
        else partial(
            BatchSpotNode,
            other_types=[each.name for each in cluster.capacity.other_types],
            keeps_node=cluster.nodes.min == 1,
        )
    )
    batch = construct(
        stack,
        "Batch",
        subnet=launch.subnet,
        launch_template_id=template.launch_template_id,
        launch_template_version=template.latest_version,
        instance_type=cluster.instance.name,
        container=replace(
            plan.container, environment={**plan.environment, **job_variables(cluster)}
        ),
        image_uri=image_uri,
        image_type=plan.image_type,
        image_id=launch.image_id,
        attempts=plan.attempts,
        timeout=cdk.Duration.hours(plan.timeout_hours),
        capacity_wait=cdk.Duration.hours(plan.capacity_wait_hours)
        if plan.capacity_wait_hours
        else None,
        update_timeout=cdk.Duration.hours(plan.update_timeout_hours),
        buckets=job_buckets(cluster),
        policies=cluster.job_access.policies,
    )
    if repository:
        grant_pull(repository, batch.instance_role)
    launch.let_boot(batch.instance_role)
    let_jobs_use_key(cluster, batch.job_role)
    FailedBootLimit(
        stack,
        "FailedBoots",
        cluster=cluster.name,
        stop=disable_environment(
            batch.compute_environment_arn,
            min_vcpus=cluster.nodes.min * plan.container.vcpus,
        ),
        limit=cluster.failed_boot_limit,
        hours=cluster.failed_boot_hours,
    )
    single_node = {} if plan.multi_node else {JOB_TYPE_OUTPUT: ("Type of the jobs", SINGLE_NODE)}
    add_outputs(
        stack,
        cluster.name,
        Orchestrator.BATCH,
        JobQueue=("Queue to submit jobs to", batch.job_queue_arn),
        JobDefinition=("Definition to submit", batch.job_definition_arn),
        ComputeEnvironment=("Nodes of the queue", batch.compute_environment_arn),
        LogGroup=("Output of the jobs", batch.log_group.log_group_name),
        **single_node,
    )
    if plan.repository:
        _add_image_notice(stack, cluster.name, plan, plan.repository, batch)
    return batch


def _add_image_notice(
    stack: cdk.Stack,
    name: str,
    plan: BatchPlan,
    repository: RepositoryPlan,
    batch: BatchSpotNode | BatchMultiNode,
) -> None:
    """Output whether the jobs' image is in the cluster's own repository."""
    push = f"trainshed container push {name}"
    notice = ContainerImageNotice(
        stack,
        "ContainerImageNotice",
        repository_name=repository.name,
        tag_or_digest=plan.image.tag_or_digest,
        job_definition_arn=batch.job_definition_arn,
        remedy=f"name in image.digest what {push} prints"
        if plan.image.digest
        else f"build and push it: trainshed container build {name}, then {push}",
        list_command=f"trainshed container list {name}",
    )
    cdk.CfnOutput(
        stack,
        "ContainerImage",
        description="Whether the jobs' image was in its repository, and when ECR was asked",
        value=notice.text,
    )

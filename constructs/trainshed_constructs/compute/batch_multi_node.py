"""AWS Batch for multi-node parallel jobs: compute environment, queue and job definition."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed.plan import ContainerPlan
from trainshed.spec import BucketGrant, NodeRange
from trainshed_constructs.compute.batch_cluster import BatchCluster, EnvironmentKind
from trainshed_constructs.compute.job_definition import job_container, retries
from trainshed_constructs.compute.multi_node_job import multi_node_job

_ON_DEMAND = EnvironmentKind(
    construct_id="Environment",
    type="EC2",
    allocation_strategy="BEST_FIT_PROGRESSIVE",
    in_place=True,
)
# Another id, because CloudFormation cannot roll back a change of ReplaceComputeEnvironment that
# comes with others (AWS::Batch::ComputeEnvironment): a cluster that begins to use a block, or
# ceases to, gets another environment.
_BLOCK = EnvironmentKind(
    construct_id="BlockEnvironment", type="EC2", allocation_strategy="BEST_FIT", in_place=False
)


class BatchMultiNode(BatchCluster):
    """Compute environment, job queue and job definition for training over many EFA nodes.

    Follows AWS Batch's user guide, "Multi-node parallel jobs" and "Elastic Fabric Adapter":

    - The containers' own interfaces are in the VPC's default group, because the environment has no
      security groups.
    - Updates in place: BEST_FIT_PROGRESSIVE and the service-linked role allow infrastructure
      updates, and running jobs go on for `update_timeout`. AWS Batch may then go over the
      largest number of nodes by one instance.
    - With a Capacity Block BEST_FIT instead, as in AWS's own templates for AWS Batch: EC2 Auto
      Scaling takes no blocks in groups of mixed instances, which the progressive strategies may
      make. BEST_FIT allows no infrastructure updates, so CloudFormation makes another environment,
      gives it to the queue and deletes the first, which ends the jobs that run in it.

    Attributes:
        job_definition: the resource.
        job_definition_arn: ARN with the revision.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed.plan import ContainerPlan
        from trainshed.spec import NodeRange
        from trainshed_constructs import BatchMultiNode

        stack = Stack(App(), "Compute")
        BatchMultiNode(
            stack,
            "Batch",
            subnet=ec2.Vpc(stack, "Vpc").private_subnets[0],
            launch_template_id="lt-0123456789abcdef0",
            launch_template_version="1",
            instance_type="p4d.24xlarge",
            nodes=NodeRange(min=0, max=4),
            container=ContainerPlan(
                vcpus=96,
                memory_mib=1_000_000,
                gpus=8,
                devices=tuple(f"/dev/infiniband/uverbs{index}" for index in range(4)),
                shared_memory_mib=131_072,
                environment={},
                folders={"scratch": "/scratch"},
            ),
            image_uri="public.ecr.aws/hpc-cloud/nccl-tests:latest",
            image_type="ECS_AL2023_NVIDIA",
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        subnet: ec2.ISubnet,
        launch_template_id: str,
        launch_template_version: str,
        instance_type: str,
        nodes: NodeRange,
        container: ContainerPlan,
        image_uri: str,
        image_type: str,
        image_id: str | None = None,
        placement_group_name: str | None = None,
        attempts: int = 3,
        timeout: Duration | None = None,
        capacity_wait: Duration | None = None,
        update_timeout: Duration | None = None,
        capacity_block: bool = False,
        waits_for_window: bool = False,
        buckets: Sequence[BucketGrant] = (),
        policies: Sequence[str] = (),
    ) -> None:
        """Declare the compute environment, the queue and the job definition.

        Args:
            scope: parent.
            construct_id: id within the parent.
            subnet: private subnet of the nodes, in the zone that offers the type.
            launch_template_id: template that carries the network interfaces.
            launch_template_version: its number, never `$Default` or `$Latest`.
            instance_type: the one type of the nodes.
            nodes: fewest and most nodes.
            container: what the container of one node gets.
            image_uri: the container image.
            image_type: AWS Batch's `imageType`: ECS_AL2023 or ECS_AL2023_NVIDIA.
            image_id: AMI of the nodes; by default AWS Batch's own, which has no EFA installer.
            placement_group_name: cluster placement group; by default none.
            attempts: how often a job is tried when its host fails, 1 to 10.
            timeout: how long one attempt may take, at least a minute; by default 72 hours.
            capacity_wait: how long a job may wait for instances that EC2 lacks, 10 minutes to 24
                hours; by default 2 hours; with `capacity_block` as long as it takes.
            update_timeout: how long running jobs go on when the infrastructure is updated, up to
                `LONGEST_UPDATE_MINUTES`, the default; with `capacity_block` they are ended.
            capacity_block: the nodes come from a Capacity Block, so jobs may wait for its start,
                and infrastructure updates replace the environment.
            waits_for_window: jobs may wait for the start of a reservation as long as it takes.
            buckets: what the containers may use in S3; by default nothing.
            policies: ARNs of managed policies of the containers; by default none.

        Raises:
            ConstructError: AWS Batch would refuse it, or the result would not be reproducible.
        """
        # Jobs for a Capacity Block wait for its start, which may be weeks ahead.
        waits = capacity_block or waits_for_window
        super().__init__(
            scope,
            construct_id,
            kind=_BLOCK if capacity_block else _ON_DEMAND,
            subnet=subnet,
            launch_template_id=launch_template_id,
            launch_template_version=launch_template_version,
            instance_types=[instance_type],
            nodes=nodes,
            container=container,
            image_type=image_type,
            image_id=image_id,
            placement_group_name=placement_group_name,
            attempts=attempts,
            timeout=timeout,
            capacity_wait=None if waits else capacity_wait or Duration.hours(2),
            update_timeout=update_timeout,
            buckets=buckets,
            policies=policies,
        )
        self.job_definition = multi_node_job(
            self,
            "Job",
            nodes=nodes,
            container=job_container(
                container=container,
                image_uri=image_uri,
                job_role=self.job_role,
                log_group=self.log_group,
                instance_type=instance_type,
            ),
            retry_strategy=retries(attempts),
            timeout_seconds=self.timeout_seconds,
        )
        self.job_definition_arn = self.job_definition.ref

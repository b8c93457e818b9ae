"""AWS Batch with one node on Spot: compute environment, queue and job definition."""

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed.plan import ContainerPlan
from trainshed.spec import BucketGrant, NodeRange
from trainshed_constructs.compute.batch_cluster import BatchCluster, EnvironmentKind
from trainshed_constructs.compute.job_definition import job_container, retries
from trainshed_constructs.compute.single_node_job import single_node_job

# An id of its own: a cluster that moves to Spot, or from it, gets another environment. AWS Batch
# could change the type in place, but no document says that it would give up a placement group.
_SPOT = EnvironmentKind(
    construct_id="SpotEnvironment",
    type="SPOT",
    # AWS Batch user guide, "Instance type allocation strategies": the one that it recommends of
    # those for Spot. With one type in one zone, none has a choice.
    allocation_strategy="SPOT_PRICE_CAPACITY_OPTIMIZED",
    in_place=True,
)
# AWS Batch API reference, ComputeResource, allocationStrategy: follows the order of the types as
# far as the capacity of each lets it, as the groups of plain EC2 nodes do. It warns of large types
# at the top, on which small jobs leave room; a job here takes a whole node of any of the types.
_IN_ORDER = "SPOT_CAPACITY_OPTIMIZED_PRIORITIZED"


class BatchSpotNode(BatchCluster):
    """Compute environment, job queue and job definition for training on one Spot Instance.

    Follows AWS Batch's user guide, "Compute environments" and "Networking modes for AWS Batch
    jobs":

    - Jobs of one container: AWS Batch runs no multi-node parallel jobs on Spot. The container has
      the network of its node.
    - The environment asks for Spot; AWS Batch ignores the market options of a launch template.
    - Several types, where `other_types` are given: the next one where Spot lacks the first. Another
      list is an update in place.
    - No price: AWS Batch takes a percentage of the price on demand, and recommends to give none.
    - A job whose node EC2 takes back is tried again on another one: when its container ends with
      197, as that of trainshed-launch does on the notice, or with its node.
    - Updates in place, in which a running job goes on for `update_timeout`.

    Attributes:
        job_definition: the resource.
        job_definition_arn: ARN with the revision.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed.plan import ContainerPlan
        from trainshed_constructs import BatchSpotNode

        stack = Stack(App(), "Compute")
        BatchSpotNode(
            stack,
            "Batch",
            subnet=ec2.Vpc(stack, "Vpc").private_subnets[0],
            launch_template_id="lt-0123456789abcdef0",
            launch_template_version="1",
            instance_type="p4d.24xlarge",
            container=ContainerPlan(
                vcpus=96,
                memory_mib=1_000_000,
                gpus=8,
                devices=tuple(f"/dev/infiniband/uverbs{index}" for index in range(4)),
                shared_memory_mib=131_072,
                environment={},
                folders={"scratch": "/scratch", "spot": "/run/trainshed/spot"},
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
        container: ContainerPlan,
        image_uri: str,
        image_type: str,
        image_id: str | None = None,
        other_types: Sequence[str] = (),
        keeps_node: bool = False,
        attempts: int = 3,
        timeout: Duration | None = None,
        capacity_wait: Duration | None = None,
        update_timeout: Duration | None = None,
        buckets: Sequence[BucketGrant] = (),
        policies: Sequence[str] = (),
    ) -> None:
        """Declare the compute environment, the queue and the job definition.

        Args:
            scope: parent.
            construct_id: id within the parent.
            subnet: private subnet of the node, in the zone that offers the type.
            launch_template_id: template that carries the network interfaces.
            launch_template_version: its number, never `$Default` or `$Latest`.
            instance_type: of the node.
            container: what the job's container gets.
            image_uri: the container image.
            image_type: AWS Batch's `imageType`: ECS_AL2023 or ECS_AL2023_NVIDIA.
            image_id: AMI of the node; by default AWS Batch's own, which has no EFA installer.
            other_types: what AWS Batch may launch in place of `instance_type`, in order of
                preference; `container` and `image_id` fit them all. By default nothing.
            keeps_node: there is a node while no job runs, too.
            attempts: how often a job is tried when it loses its node, 1 to 10.
            timeout: how long one attempt may take, at least a minute; by default 72 hours.
            capacity_wait: how long a job may wait for an instance that EC2 lacks, 10 minutes to 24
                hours; by default as long as it takes.
            update_timeout: how long a running job goes on when the infrastructure is updated, up to
                `LONGEST_UPDATE_MINUTES`, the default.
            buckets: what the containers may use in S3; by default nothing.
            policies: ARNs of managed policies of the containers; by default none.

        Raises:
            ConstructError: AWS Batch would refuse it, or the result would not be reproducible.
        """
        super().__init__(
            scope,
            construct_id,
            kind=replace(_SPOT, allocation_strategy=_IN_ORDER) if other_types else _SPOT,
            subnet=subnet,
            launch_template_id=launch_template_id,
            launch_template_version=launch_template_version,
            instance_types=[instance_type, *other_types],
            nodes=NodeRange(min=int(keeps_node), max=1),
            container=container,
            image_type=image_type,
            image_id=image_id,
            placement_group_name=None,
            attempts=attempts,
            timeout=timeout,
            capacity_wait=capacity_wait,
            update_timeout=update_timeout,
            buckets=buckets,
            policies=policies,
        )
        self.job_definition = single_node_job(
            self,
            "Job",
            container=job_container(
                container=container,
                image_uri=image_uri,
                job_role=self.job_role,
                log_group=self.log_group,
            ),
            retry_strategy=retries(attempts),
            timeout_seconds=self.timeout_seconds,
        )
        self.job_definition_arn = self.job_definition.ref

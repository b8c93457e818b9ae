"""AWS Batch for multi-node parallel jobs: compute environment, queue and job definition."""

from collections.abc import Iterator, Sequence

from aws_cdk import Duration, Token
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.catalogue.batch import LONGEST_UPDATE_MINUTES
from trainshed.plan import ContainerPlan
from trainshed.spec import BucketGrant, NodeRange
from trainshed_constructs.compute.ecs_agent_policy import ecs_agent_statements, ecs_agent_wildcards
from trainshed_constructs.compute.job_logs import job_logs
from trainshed_constructs.compute.job_queue import job_queue
from trainshed_constructs.compute.job_role import ecs_tasks, job_role
from trainshed_constructs.compute.multi_node_job import multi_node_job
from trainshed_constructs.compute.node_role import NodeRole
from trainshed_constructs.errors import ConstructError

_Environment = batch.CfnComputeEnvironment

_IMAGE_TYPES = ("ECS_AL2023", "ECS_AL2023_NVIDIA")


class BatchMultiNode(Construct):
    """Compute environment, job queue and job definition for training over many EFA nodes.

    Follows AWS Batch's user guide, "Multi-node parallel jobs" and "Elastic Fabric Adapter":

    - No security groups: the launch template's interfaces carry them, and AWS Batch refuses both
      ("Either compute environment Security Groups or Network Interfaces in Launch template are
      exclusively allowed"). The containers' own interfaces are then in the VPC's default group.
    - One subnet, so one zone; one instance type; an explicit launch template version, so that a
      new one reaches the compute environment; an explicit Amazon Linux 2023 image type, because
      AWS Batch blocks new environments of its Amazon Linux 2 images since June 2026.
    - Updates in place: BEST_FIT_PROGRESSIVE and the service-linked role allow infrastructure
      updates, and running jobs go on for `update_timeout`. AWS Batch may then go over the
      largest number of nodes by one instance.
    - With a Capacity Block BEST_FIT instead, as in AWS's own templates for AWS Batch: EC2 Auto
      Scaling takes no blocks in groups of mixed instances, which the progressive strategies may
      make. BEST_FIT allows no infrastructure updates, so CloudFormation makes another environment,
      gives it to the queue and deletes the first, which ends the jobs that run in it.
    - No names, so that CloudFormation can replace what it must; outputs give users the ARNs.
    - CDK tags go to the instances. They do not go on the compute environment itself: its tags can
      only be set at creation, so a new owner would replace it under running jobs. They do go on
      the queue and the job definition, which a change of tags may replace, too (the sources
      disagree): keep tags that change, and stack tags that change (`Stack(tags=...)`), off them
      with `exclude_resource_types`.

    Attributes:
        compute_environment: the resource.
        job_queue: the resource.
        job_definition: the resource.
        compute_environment_arn: ARN.
        job_queue_arn: ARN; jobs are submitted to it.
        job_definition_arn: ARN with the revision.
        log_group: the containers' output, for three months; kept when the stack is deleted.
        instance_role: role of the nodes; grant it what they need at boot, and image pulls.
        job_role: role of the containers: `buckets` and `policies`, and what it is granted.

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
        super().__init__(scope, construct_id)
        timeout_seconds = (timeout or Duration.hours(72)).to_seconds()
        wait_seconds = int((capacity_wait or Duration.hours(2)).to_seconds())
        update_minutes = update_timeout.to_minutes() if update_timeout else LONGEST_UPDATE_MINUTES
        problems = (
            *_environment_problems(launch_template_version, instance_type, image_type),
            *_job_problems(attempts, timeout_seconds, update_minutes, container),
            *_queue_problems(wait_seconds),
        )
        if problems:
            raise ConstructError(self, "; ".join(problems))
        self.log_group = job_logs(self, "Logs")
        node_role = NodeRole(
            self,
            "NodeRole",
            log_group=self.log_group,
            statements=ecs_agent_statements(),
            wildcards=ecs_agent_wildcards(),
        )
        self.instance_role: iam.Role = node_role.role
        self.job_role = job_role(
            self,
            "JobRole",
            description="Containers of multi-node training jobs",
            assumed_by=ecs_tasks(self),
            buckets=buckets,
            policies=policies,
        )
        # L1: the L2 ManagedEc2EcsComputeEnvironment always renders SecurityGroupIds, cannot name a
        # launch template version (https://github.com/aws/aws-cdk/issues/28137) and takes every
        # private subnet by default.
        self.compute_environment = batch.CfnComputeEnvironment(
            self,
            # Two ids, because CloudFormation cannot roll back a change of
            # ReplaceComputeEnvironment that comes with others (AWS::Batch::ComputeEnvironment): a
            # cluster that begins to use a block, or ceases to, gets another environment.
            "BlockEnvironment" if capacity_block else "Environment",
            type="MANAGED",
            state="ENABLED",
            # True replaces on every infrastructure change.
            replace_compute_environment=capacity_block,
            update_policy=None
            if capacity_block
            else _Environment.UpdatePolicyProperty(
                terminate_jobs_on_update=False,
                job_execution_timeout_minutes=update_minutes,
            ),
            # No ServiceRole: with any but the service-linked one AWS Batch updates nothing but
            # the number of vCPUs.
            compute_resources=_Environment.ComputeResourcesProperty(
                type="EC2",
                allocation_strategy="BEST_FIT" if capacity_block else "BEST_FIT_PROGRESSIVE",
                instance_types=[instance_type],
                minv_cpus=nodes.min * container.vcpus,
                maxv_cpus=nodes.max * container.vcpus,
                subnets=[subnet.subnet_id],
                instance_role=node_role.profile.attr_arn,
                launch_template=_Environment.LaunchTemplateSpecificationProperty(
                    launch_template_id=launch_template_id, version=launch_template_version
                ),
                ec2_configuration=[
                    _Environment.Ec2ConfigurationObjectProperty(
                        image_type=image_type, image_id_override=image_id
                    )
                ],
                placement_group=placement_group_name,
            ),
        )
        self.compute_environment_arn = self.compute_environment.ref
        self._tag_instances_only()
        # The policies of the role, too, before the first node boots.
        self.compute_environment.node.add_dependency(self.instance_role)
        self.job_queue = job_queue(
            self,
            "Queue",
            compute_environment_arn=self.compute_environment_arn,
            # Jobs for a Capacity Block wait for its start, which may be weeks ahead.
            capacity_wait_seconds=None if capacity_block or waits_for_window else wait_seconds,
        )
        self.job_definition = multi_node_job(
            self,
            "Job",
            instance_type=instance_type,
            nodes=nodes,
            container=container,
            image_uri=image_uri,
            job_role=self.job_role,
            log_group=self.log_group,
            attempts=attempts,
            timeout_seconds=timeout_seconds,
        )
        self.job_queue_arn = self.job_queue.ref
        self.job_definition_arn = self.job_definition.ref

    def _tag_instances_only(self) -> None:
        environment = self.compute_environment
        environment.add_property_deletion_override("Tags")
        environment.add_property_override("ComputeResources.Tags", environment.tags.rendered_tags)


def _queue_problems(wait_seconds: int) -> Iterator[str]:
    if not 600 <= wait_seconds <= 86_400:
        yield f"capacity_wait is {wait_seconds} seconds; AWS Batch takes 600 to 86400"


def _environment_problems(version: str, instance_type: str, image_type: str) -> Iterator[str]:
    if not Token.is_unresolved(version) and not version.isdigit():
        yield (
            f"launch template version {version!r} would not follow the template: AWS Batch looks "
            "at it again only when something else changes; give the number "
            "(CfnLaunchTemplate.attr_latest_version_number)"
        )
    if "." not in instance_type and not Token.is_unresolved(instance_type):
        yield (
            f"instance type {instance_type!r} is not one type: all nodes of a multi-node parallel "
            "job have the same; name it with its size, for instance p4d.24xlarge"
        )
    if image_type not in _IMAGE_TYPES:
        yield (
            f"image type {image_type!r} cannot run multi-node parallel jobs of new environments "
            f"(allowed: {', '.join(_IMAGE_TYPES)})"
        )


def _job_problems(
    attempts: int,
    timeout_seconds: float,
    update_minutes: float,
    container: ContainerPlan,
) -> Iterator[str]:
    if not 1 <= attempts <= 10:
        yield f"attempts is {attempts}; AWS Batch takes 1 to 10"
    if timeout_seconds < 60:
        yield f"timeout is {timeout_seconds} seconds; AWS Batch takes 60 or more"
    if not 1 <= update_minutes <= LONGEST_UPDATE_MINUTES:
        yield (
            f"update_timeout is {update_minutes} minutes; AWS Batch takes 1 to "
            f"{LONGEST_UPDATE_MINUTES}"
        )
    if reserved := sorted(name for name in container.environment if name.startswith("AWS_BATCH")):
        yield f"AWS Batch sets variables that start with AWS_BATCH itself: {', '.join(reserved)}"
    for name, path in container.folders.items():
        if not path.startswith("/"):
            yield f"folder {path!r} of volume {name} is not an absolute path"

"""What clusters of AWS Batch have in common: environment, queue, roles and the log of jobs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
from trainshed_constructs.compute.node_role import NodeRole
from trainshed_constructs.errors import ConstructError

_Environment = batch.CfnComputeEnvironment

_IMAGE_TYPES = ("ECS_AL2023", "ECS_AL2023_NVIDIA")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentKind:
    """How an environment gets its nodes.

    Attributes:
        construct_id: of the environment; another one makes another environment.
        type: AWS Batch's: EC2 or SPOT.
        allocation_strategy: AWS Batch's.
        in_place: infrastructure updates change it; else CloudFormation makes another one.
    """

    construct_id: str
    type: str
    allocation_strategy: str
    in_place: bool


class BatchCluster(Construct):
    """Compute environment and job queue of AWS Batch, with the roles and the log of its jobs.

    - No security groups: the launch template's interfaces carry them, and AWS Batch refuses both
      ("Either compute environment Security Groups or Network Interfaces in Launch template are
      exclusively allowed").
    - One subnet, so one zone; an explicit launch template version, so that a new one reaches the
      compute environment; an explicit Amazon Linux 2023 image type, because
      AWS Batch blocks new environments of its Amazon Linux 2 images since June 2026.
    - No names, so that CloudFormation can replace what it must; outputs give users the ARNs.
    - CDK tags go to the instances. They do not go on the compute environment itself: its tags can
      only be set at creation, so a new owner would replace it under running jobs. They do go on
      the queue and the job definition, which a change of tags may replace, too (the sources
      disagree): keep tags that change, and stack tags that change (`Stack(tags=...)`), off them
      with `exclude_resource_types`.

    Attributes:
        compute_environment: the resource.
        job_queue: the resource.
        compute_environment_arn: ARN.
        job_queue_arn: ARN; jobs are submitted to it.
        log_group: the containers' output, for three months; kept when the stack is deleted.
        instance_role: role of the nodes; grant it what they need at boot, and image pulls.
        job_role: role of the containers: `buckets` and `policies`, and what it is granted.
        timeout_seconds: how long one attempt of a job may take.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        kind: EnvironmentKind,
        subnet: ec2.ISubnet,
        launch_template_id: str,
        launch_template_version: str,
        instance_types: Sequence[str],
        nodes: NodeRange,
        container: ContainerPlan,
        image_type: str,
        image_id: str | None,
        placement_group_name: str | None,
        attempts: int,
        timeout: Duration | None,
        capacity_wait: Duration | None,
        update_timeout: Duration | None,
        buckets: Sequence[BucketGrant],
        policies: Sequence[str],
    ) -> None:
        """Declare the compute environment and the queue.

        Args:
            scope: parent.
            construct_id: id within the parent.
            kind: how the environment gets its nodes.
            subnet: private subnet of the nodes, in the zone that offers the type.
            launch_template_id: template that carries the network interfaces.
            launch_template_version: its number, never `$Default` or `$Latest`.
            instance_types: those that nodes may have, in order of preference.
            nodes: fewest and most nodes.
            container: what the container of one node gets.
            image_type: AWS Batch's `imageType`: ECS_AL2023 or ECS_AL2023_NVIDIA.
            image_id: AMI of the nodes; None for AWS Batch's own, which has no EFA installer.
            placement_group_name: cluster placement group, or None.
            attempts: how often a job is tried when its host fails, 1 to 10.
            timeout: how long one attempt may take, at least a minute; None for 72 hours.
            capacity_wait: how long a job may wait for instances that EC2 lacks, 10 minutes to 24
                hours; None for as long as it takes.
            update_timeout: how long running jobs go on when the infrastructure is updated, up to
                `LONGEST_UPDATE_MINUTES`, for which None stands.
            buckets: what the containers may use in S3.
            policies: ARNs of managed policies of the containers.

        Raises:
            ConstructError: AWS Batch would refuse it, or the result would not be reproducible.
        """
        super().__init__(scope, construct_id)
        self.timeout_seconds = (timeout or Duration.hours(72)).to_seconds()
        wait_seconds = None if capacity_wait is None else int(capacity_wait.to_seconds())
        update_minutes = update_timeout.to_minutes() if update_timeout else LONGEST_UPDATE_MINUTES
        problems = (
            *_environment_problems(launch_template_version, instance_types, image_type),
            *_job_problems(attempts, self.timeout_seconds, update_minutes, container),
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
            description="Containers of multi-node training jobs"
            if kind.type == "EC2"
            else "Containers of training jobs on Spot",
            assumed_by=ecs_tasks(self),
            buckets=buckets,
            policies=policies,
        )
        # L1: the L2 ManagedEc2EcsComputeEnvironment always renders SecurityGroupIds, cannot name a
        # launch template version (https://github.com/aws/aws-cdk/issues/28137) and takes every
        # private subnet by default.
        self.compute_environment = batch.CfnComputeEnvironment(
            self,
            kind.construct_id,
            type="MANAGED",
            state="ENABLED",
            # True replaces on every infrastructure change.
            replace_compute_environment=not kind.in_place,
            update_policy=_Environment.UpdatePolicyProperty(
                terminate_jobs_on_update=False,
                job_execution_timeout_minutes=update_minutes,
            )
            if kind.in_place
            else None,
            # No ServiceRole: with any but the service-linked one AWS Batch updates nothing but
            # the number of vCPUs.
            compute_resources=_Environment.ComputeResourcesProperty(
                type=kind.type,
                allocation_strategy=kind.allocation_strategy,
                instance_types=[*instance_types],
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
            capacity_wait_seconds=wait_seconds,
        )
        self.job_queue_arn = self.job_queue.ref

    def _tag_instances_only(self) -> None:
        environment = self.compute_environment
        environment.add_property_deletion_override("Tags")
        environment.add_property_override("ComputeResources.Tags", environment.tags.rendered_tags)


def _queue_problems(wait_seconds: int | None) -> Iterator[str]:
    if wait_seconds is not None and not 600 <= wait_seconds <= 86_400:
        yield f"capacity_wait is {wait_seconds} seconds; AWS Batch takes 600 to 86400"


def _environment_problems(
    version: str, instance_types: Sequence[str], image_type: str
) -> Iterator[str]:
    if not Token.is_unresolved(version) and not version.isdigit():
        yield (
            f"launch template version {version!r} would not follow the template: AWS Batch looks "
            "at it again only when something else changes; give the number "
            "(CfnLaunchTemplate.attr_latest_version_number)"
        )
    for instance_type in instance_types:
        if "." not in instance_type and not Token.is_unresolved(instance_type):
            yield (
                f"instance type {instance_type!r} is not one type, and a job definition is made "
                "for the whole of a node; name it with its size, for instance p4d.24xlarge"
            )
    if image_type not in _IMAGE_TYPES:
        yield (
            f"image type {image_type!r} is not one of new environments (allowed: "
            f"{', '.join(_IMAGE_TYPES)})"
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

"""The compute: can be destroyed and made again at any time."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from constructs import Construct

from trainshed.plan import CapacityKind, ClusterPlan, Fleet, RepositoryPlan, make_plan
from trainshed.spec import ClusterSpec
from trainshed_constructs import (
    BatchMultiNode,
    ClusterPlacementGroup,
    ContainerImageNotice,
    EfaLaunchTemplate,
    EfaSecurityGroup,
    FailedBootLimit,
    FirstBoot,
    grant_pull,
)
from trainshed_stacks.prerequisites_stack import pinned_ami
from trainshed_stacks.security import secure
from trainshed_stacks.shared import SharedStacks, environment
from trainshed_stacks.tags import tag


class TrainClusterStack(cdk.Stack):
    """Placement group, launch template, AWS Batch environment, queue and job definition.

    It depends on the stacks of its prerequisites, network, storage and containers, so that
    deploying it gives a cluster that works; only the network is tied to it by CloudFormation
    exports.

    Attributes:
        batch: compute environment, queue and job definition.

    Example::

        from aws_cdk import App
        from trainshed.spec import ClusterSpec, InstanceSpec
        from trainshed_stacks import TrainClusterStack

        spec = ClusterSpec(
            name="Tiny", region="us-west-2", instance=InstanceSpec(type="trn1.32xlarge")
        )
        stack = TrainClusterStack(App(), "Tiny", cluster=spec)
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: ClusterSpec | ClusterPlan,
        shared: SharedStacks | None = None,
    ) -> None:
        """Declare the stack, and those it needs when it is given none.

        Args:
            scope: the app.
            construct_id: the stack's name.
            cluster: what was asked, or its plan. A spec without a region is an error.
            shared: stacks that several clusters share; by default stacks of this cluster's own.

        Raises:
            SpecError: the spec contradicts itself or AWS.
        """
        plan = make_plan(cluster) if isinstance(cluster, ClusterSpec) else cluster
        shared = shared or SharedStacks(scope, Fleet(clusters=(plan,)))
        super().__init__(
            scope,
            construct_id,
            env=environment(plan),
            description=f"Training cluster of {plan.instance.name}",
        )
        network, storage = shared.network(plan), shared.storage(plan)
        # What nodes and the ECS agent reach outside of the VPC: AWS's APIs, ECR, package mirrors.
        https = ec2.Port.tcp(443)
        efa = EfaSecurityGroup(self, "Efa", vpc=network.network.vpc, internet_egress=[https])
        first_boot = FirstBoot(
            self,
            "FirstBoot",
            cluster=plan.spec.name,
            devices=plan.devices,
            lustre=plan.lustre_mount,
        )
        user_data = ec2.MultipartUserData()
        first_boot.add_to(user_data)
        clients = [network.storage_clients[plan.lustre.name]] if plan.lustre else []
        over_efa = plan.lustre is not None and plan.lustre.spec.efa
        template = EfaLaunchTemplate(
            self,
            "Nodes",
            interfaces=plan.interfaces,
            security_groups=[efa.security_group, *(clients if over_efa else ())],
            primary_security_groups=() if over_efa else clients,
            root_device=plan.ami.root_device,
            root_gib=plan.spec.instance.root_gib,
            user_data=user_data,
            capacity=plan.capacity,
            kms_key_arn=plan.spec.kms_key,
        )
        image_uri, repository = self._image(plan)
        self.batch = BatchMultiNode(
            self,
            "Batch",
            subnet=network.network.private_subnet(plan.zone.name),
            launch_template_id=template.launch_template_id,
            launch_template_version=template.latest_version,
            instance_type=plan.instance.name,
            nodes=plan.spec.instance.nodes,
            container=plan.container,
            image_uri=image_uri,
            image_type=plan.ami.batch_image_type,
            image_id=self._image_id(plan),
            placement_group_name=self._placement_group_name(plan),
            attempts=plan.spec.job.attempts,
            timeout=cdk.Duration.hours(plan.spec.job.timeout_hours),
            update_timeout=cdk.Duration.minutes(plan.update_timeout_minutes),
            capacity_block=plan.capacity.kind is CapacityKind.CAPACITY_BLOCK,
            mount=plan.lustre.spec.mount if plan.lustre else None,
            buckets=plan.spec.job.buckets,
            policies=plan.spec.job.policies,
        )
        if repository:
            grant_pull(repository, self.batch.instance_role)
        first_boot.grant(self.batch.instance_role)
        FailedBootLimit(
            self,
            "FailedBoots",
            cluster=plan.spec.name,
            compute_environment_arn=self.batch.compute_environment_arn,
            min_vcpus=plan.spec.instance.nodes.min * plan.container.vcpus,
            limit=plan.failed_boot_limit,
            hours=plan.failed_boot_hours,
        )
        self._add_outputs(plan)
        if plan.repository:
            self._add_image_notice(plan, plan.repository)
        # The network, too: of an existing VPC nothing is imported, and jobs need its rules.
        upstreams = (shared.prerequisites(plan), network, storage, shared.containers(plan))
        for upstream in filter(None, upstreams):
            self.add_stack_dependency(upstream)
        for finding in plan.findings:
            cdk.Annotations.of(self).add_warning_v2(
                finding.rule, f"{finding.message}; {finding.remedy}"
            )
        tag(self, plan.spec.name, [plan])
        secure(self, plan.spec)

    def _image(self, plan: ClusterPlan) -> tuple[str, ecr.IRepository | None]:
        """Return the image's URI, and the ECR repository that nodes need rights to pull it from.

        By its name: an export would tie the images to every cluster that runs them.
        """
        if plan.repository:
            own = ecr.Repository.from_repository_name(self, "Repository", plan.repository.name)
            return own.repository_uri_for_tag_or_digest(plan.image.tag_or_digest), own
        assert plan.image.uri
        if not (other := plan.image.ecr):
            return plan.image.uri, None
        return plan.image.uri, ecr.Repository.from_repository_attributes(
            self,
            "Repository",
            repository_name=other.name,
            repository_arn=f"arn:{cdk.Aws.PARTITION}:ecr:{other.region}:{other.account}:"
            f"repository/{other.name}",
        )

    def _add_outputs(self, plan: ClusterPlan) -> None:
        """Output what `aws batch submit-job` needs."""
        for name, description, value in (
            ("JobQueue", "Queue to submit jobs to", self.batch.job_queue_arn),
            ("JobDefinition", "Definition to submit", self.batch.job_definition_arn),
            ("ComputeEnvironment", "Nodes of the queue", self.batch.compute_environment_arn),
            ("LogGroup", "Output of the jobs", self.batch.log_group.log_group_name),
        ):
            cdk.CfnOutput(self, name, description=f"{description} ({plan.spec.name})", value=value)

    def _add_image_notice(self, plan: ClusterPlan, repository: RepositoryPlan) -> None:
        """Output whether the jobs' image is in the cluster's own repository."""
        name = plan.spec.name
        push = f"trainshed container push {name}"
        notice = ContainerImageNotice(
            self,
            "ContainerImageNotice",
            repository_name=repository.name,
            tag_or_digest=plan.image.tag_or_digest,
            job_definition_arn=self.batch.job_definition_arn,
            remedy=f"name in image.digest what {push} prints"
            if plan.image.digest
            else f"build and push it: trainshed container build {name}, then {push}",
            list_command=f"trainshed container list {name}",
        )
        cdk.CfnOutput(
            self,
            "ContainerImage",
            description="Whether the jobs' image was in its repository, and when ECR was asked",
            value=notice.text,
        )

    def _image_id(self, plan: ClusterPlan) -> str:
        """Give the AMI's id, or the one that its parameter holds when the stack first reads it.

        It is checked here too, for `cdk deploy --exclusively`, which leaves the prerequisites out.
        """
        pinned = pinned_ami(self, plan.ami)
        if plan.ami.parameter:
            cdk.CfnOutput(
                self,
                "AmiVersion",
                description=f"Version of {plan.ami.parameter} that the nodes' AMI came from",
                value=pinned.version,
            )
        return pinned.image_id

    def _placement_group_name(self, plan: ClusterPlan) -> str | None:
        if plan.capacity.own_placement_group:
            return ClusterPlacementGroup(self, "Placement").name
        return plan.capacity.placement_group_name

"""Plain EC2 nodes: as many as were asked for, all of them or none."""

from collections.abc import Mapping, Sequence

from aws_cdk import (
    Acknowledgment,
    Aws,
    CfnAutoScalingScheduledAction,
    CfnCreationPolicy,
    CfnResourceSignal,
    CfnUpdatePolicy,
    Duration,
    Validations,
)
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from trainshed.spec import BucketGrant
from trainshed_constructs.compute.job_access import grant_job_access, see_the_network
from trainshed_constructs.compute.job_document import job_document
from trainshed_constructs.compute.job_logs import job_logs
from trainshed_constructs.compute.node_role import NodeRole
from trainshed_constructs.wildcards import own_arn

_Group = autoscaling.CfnAutoScalingGroup


class Ec2Cluster(Construct):
    """Auto Scaling group of an exact size in one subnet, and the document that runs jobs on it.

    - All or nothing: each node signals CloudFormation when its first boot has ended well
      (`FirstBoot`), and without a signal from every node within `boot_timeout` the group's
      creation fails, and all its nodes are terminated. EC2 Auto Scaling alone would keep the nodes
      that it got, and pay for them until the rest come.
    - A node that ends, or powers itself off because its boot failed, is replaced. A deployment
      ends no node: a new launch template is for nodes that are launched later. The exception is a
      smaller size, which ends the newest nodes.
    - No SSH and no way in from outside: jobs are commands of Systems Manager, and Session Manager
      opens a shell. A job runs on the node itself, with the node's role, which therefore has what
      jobs may do.

    Follows the CloudFormation user guide, "CreationPolicy attribute"; the EC2 Auto Scaling user
    guide, "Launch templates"; the Systems Manager user guide, "Configuring Amazon CloudWatch Logs
    for Run Command".

    Attributes:
        group: the Auto Scaling group.
        group_name: its name.
        document_name: of the document that runs jobs.
        log_group: the jobs' output, for three months; kept when the stack is deleted.
        instance_role: role of the nodes and of the jobs on them.
        instance_profile_arn: of that role, for the launch template.

    Example::

        from aws_cdk import App, Duration, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed_constructs import Ec2Cluster

        stack = Stack(App(), "Compute")
        cluster = Ec2Cluster(
            stack,
            "Ec2",
            group_name="Train",
            nodes=4,
            environment={},
            timeout=Duration.hours(48),
        )
        cluster.launch(
            subnet=ec2.Vpc(stack, "Vpc").private_subnets[0],
            launch_template_id="lt-0123456789abcdef0",
            launch_template_version="1",
            boot_timeout=Duration.minutes(45),
        )
    """

    GROUP_ID = "Nodes"
    """Logical id of the group in its stack, which its nodes signal."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        group_name: str,
        nodes: int,
        environment: Mapping[str, str],
        timeout: Duration,
        buckets: Sequence[BucketGrant] = (),
        policies: Sequence[str] = (),
    ) -> None:
        """Declare what nodes and jobs need; `launch` declares the nodes.

        Args:
            scope: parent.
            construct_id: id within the parent.
            group_name: what to call the group. It is known before the group is there, because what
                watches its nodes has to be there first.
            nodes: how many.
            environment: variables of the jobs.
            timeout: after which a job is ended, at most 48 hours.
            buckets: what jobs may use in S3; by default nothing.
            policies: ARNs of managed policies of the jobs; by default none.

        Raises:
            ConstructError: there are more buckets than a policy holds.
        """
        super().__init__(scope, construct_id)
        self.group_name = group_name
        self._nodes = nodes
        self.log_group = job_logs(self, "Logs")
        statements = _statements(self.log_group)
        node_role = NodeRole(
            self,
            "NodeRole",
            log_group=self.log_group,
            statements=statements,
            wildcards={
                own_arn("logs", "log-group:*"): "the agent lists groups to find that of the jobs; "
                "it reads none of them",
            },
        )
        self.instance_role: iam.Role = node_role.role
        self.instance_profile_arn = node_role.profile.attr_arn
        grant_job_access(self.instance_role, buckets=buckets, policies=policies, inline=statements)
        self.document_name = job_document(
            self, "Job", environment=environment, timeout_seconds=int(timeout.to_seconds())
        ).ref

    def launch(
        self,
        *,
        subnet: ec2.ISubnet,
        launch_template_id: str,
        launch_template_version: str,
        boot_timeout: Duration,
        instance_types: Sequence[str] = (),
        spot: bool = False,
        max_price: float | None = None,
        metrics: bool = False,
    ) -> None:
        """Declare the nodes.

        Args:
            subnet: private subnet of all nodes, in the zone that offers their type.
            launch_template_id: template with the AMI, the type, the interfaces, the placement
                group and `instance_profile_arn`.
            launch_template_version: its number.
            boot_timeout: within which all nodes must have booted, at most 12 hours.
            instance_types: types in order of preference, which have the interfaces of the template
                in common; by default the template's alone.
            spot: with several types: they are on Spot, and the template does not say so.
            max_price: of these, the most that a node may cost, in USD an hour.
            metrics: the group sends metrics of itself to CloudWatch, every minute, which is free.
        """
        template = _Group.LaunchTemplateSpecificationProperty(
            launch_template_id=launch_template_id, version=launch_template_version
        )
        several = _several_types(template, instance_types, spot, max_price)
        size = str(self._nodes)
        self.group = _Group(
            self,
            "Nodes",
            auto_scaling_group_name=self.group_name,
            min_size=size,
            max_size=size,
            desired_capacity=size,
            vpc_zone_identifier=[subnet.subnet_id],
            launch_template=None if several else template,
            mixed_instances_policy=several,
            # For a smaller size: jobs get the oldest nodes, so the newest are more likely free.
            termination_policies=["NewestInstance"],
            metrics_collection=[_Group.MetricsCollectionProperty(granularity="1Minute")]
            if metrics
            else None,
        )
        self.group.override_logical_id(self.GROUP_ID)
        self.group.cfn_options.creation_policy = CfnCreationPolicy(
            resource_signal=CfnResourceSignal(
                count=self._nodes, timeout=boot_timeout.to_iso_string()
            )
        )
        # A deployment starts no nodes that were stopped: it changes the size only if the template
        # does.
        self.group.cfn_options.update_policy = CfnUpdatePolicy(
            auto_scaling_scheduled_action=CfnAutoScalingScheduledAction(
                ignore_unmodified_group_size_properties=True
            )
        )
        # The policies of the role, too, before the first node boots.
        self.group.node.add_dependency(self.instance_role)
        Validations.of(self.group).acknowledge(
            Acknowledgment(
                id="AwsSolutions-AS3",
                reason="the nodes of a cluster never scale; FailedBootLimit watches those that "
                "power themselves off",
            )
        )
        if several:
            Validations.of(self.group).acknowledge(
                Acknowledgment(
                    id="AwsSolutions-EC26",
                    reason="the rule cannot read the template of a mixed instances policy; all "
                    "volumes of EfaLaunchTemplate are encrypted",
                )
            )


def _several_types(
    template: _Group.LaunchTemplateSpecificationProperty,
    types: Sequence[str],
    spot: bool,
    max_price: float | None,
) -> _Group.MixedInstancesPolicyProperty | None:
    """Return the policy of a group of several types; None for one type."""
    if not types:
        return None
    return _Group.MixedInstancesPolicyProperty(
        launch_template=_Group.LaunchTemplateProperty(
            launch_template_specification=template,
            overrides=[
                _Group.LaunchTemplateOverridesProperty(instance_type=each) for each in types
            ],
        ),
        # EC2 Auto Scaling API reference, InstancesDistribution: both go by the order, the second
        # as far as capacity lets it.
        instances_distribution=_Group.InstancesDistributionProperty(
            on_demand_base_capacity=0,
            on_demand_percentage_above_base_capacity=0 if spot else 100,
            on_demand_allocation_strategy="prioritized",
            spot_allocation_strategy="capacity-optimized-prioritized" if spot else None,
            spot_max_price=None if max_price is None else f"{max_price:.10g}",
        ),
    )


def _statements(log_group: logs.ILogGroup) -> list[iam.PolicyStatement]:
    return [
        see_the_network(),
        iam.PolicyStatement(
            # The hosts file; the action takes no resource.
            sid="FindTheOtherNodes",
            actions=["ec2:DescribeInstances"],
            resources=["*"],
        ),
        iam.PolicyStatement(
            sid="SayThatItBooted",
            actions=["cloudformation:SignalResource"],
            resources=[Aws.STACK_ID],
        ),
        iam.PolicyStatement(
            # Run Command's agent looks whether the group and the stream are there before it writes.
            sid="FindJobLogs",
            actions=["logs:DescribeLogGroups"],
            resources=[own_arn("logs", "log-group:*")],
        ),
        iam.PolicyStatement(
            sid="FindJobLogStreams",
            actions=["logs:DescribeLogStreams"],
            resources=[log_group.log_group_arn],
        ),
    ]

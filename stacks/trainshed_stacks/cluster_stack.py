"""The compute: can be destroyed and made again at any time."""

from constructs import Construct

from trainshed.checks import judge
from trainshed.orchestrators.batch.plan import BatchPlan
from trainshed.orchestrators.ec2.plan import Ec2Plan
from trainshed.orchestrators.eks.plan import EksPlan
from trainshed.plan import ClusterPlan, Fleet, make_plan
from trainshed.spec import ClusterSpec
from trainshed_constructs import (
    AcceleratorNodes,
    BatchMultiNode,
    BatchSpotNode,
    Ec2Cluster,
    ScalingGroupName,
    switch_environment,
    switch_group,
    switch_node_group,
)
from trainshed_constructs.guard.node_switch import NodeSwitch
from trainshed_stacks.batch_jobs import add_batch
from trainshed_stacks.ec2_jobs import add_ec2
from trainshed_stacks.eks_jobs import add_eks
from trainshed_stacks.findings import add_findings
from trainshed_stacks.guard import add_guard
from trainshed_stacks.monitoring import add_monitoring
from trainshed_stacks.node_launch import NodeLaunch
from trainshed_stacks.notifications import notification_topic
from trainshed_stacks.owned_stack import OwnedStack
from trainshed_stacks.shared import SharedStacks


class TrainClusterStack(OwnedStack):
    """Placement group, launch template, and what starts jobs: AWS Batch, or nodes for commands.

    It depends on the stacks of its prerequisites, network, storage and containers, so that
    deploying it gives a cluster that works; only the network is tied to it by CloudFormation
    exports.

    Attributes:
        orchestrator: what starts the jobs.
        topic_arn: ARN of the SNS topic for people; None when nobody is told.

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
            owners=[plan],
            cluster=plan.name,
            description=f"Training cluster of {plan.instance.name}",
        )
        network = shared.network(plan)
        self.topic_arn = notification_topic(self, plan)
        self.orchestrator: BatchSpotNode | BatchMultiNode | Ec2Cluster | AcceleratorNodes
        switch: NodeSwitch | None = None
        queue_arn = scaling_group = None
        match plan.jobs:
            case BatchPlan() as batch:
                started = add_batch(self, NodeLaunch(self, plan, network), batch)
                switch = switch_environment(
                    started.compute_environment_arn,
                    min_vcpus=plan.nodes.min * batch.container.vcpus,
                )
                queue_arn = started.job_queue_arn
                self.orchestrator = started
            case Ec2Plan() as ec2:
                launch = NodeLaunch(self, plan, network, signals=Ec2Cluster.GROUP_ID)
                group = add_ec2(self, launch, ec2)
                switch = switch_group(group.group_name, nodes=plan.nodes.max)
                self.orchestrator = group
            case EksPlan() as eks:
                control_plane = shared.control_plane(plan)
                assert control_plane
                launch = NodeLaunch(self, plan, network, groups=[control_plane.nodes_group(self)])
                nodes = add_eks(self, launch, eks, control_plane)
                switch = switch_node_group(
                    eks.control_plane.name,
                    nodes.group.attr_nodegroup_name,
                    nodes.group.attr_arn,
                    nodes=plan.nodes.max,
                )
                if plan.monitoring:
                    scaling_group = ScalingGroupName(
                        self,
                        "GroupName",
                        cluster_name=eks.control_plane.name,
                        node_group=nodes.group,
                    ).group_name
                self.orchestrator = nodes
        if switch:
            add_guard(self, plan, switch, self.topic_arn, queue_arn)
        add_monitoring(
            self,
            plan,
            topic_arn=self.topic_arn,
            queue_arn=queue_arn,
            scaling_group=scaling_group,
        )
        # The network, too: of an existing VPC nothing is imported, and jobs need its rules.
        upstreams = (
            *(shared.prerequisites(plan), network, *shared.storages(plan)),
            shared.containers(plan),
        )
        for upstream in filter(None, upstreams):
            self.add_stack_dependency(upstream)
        add_findings(self, judge(plan, shared.fleet))

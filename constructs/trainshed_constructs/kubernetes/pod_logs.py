"""The output of all pods of a cluster of Amazon EKS in CloudWatch Logs."""

import json

from aws_cdk import CfnResource, RemovalPolicy
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from trainshed.plan.control_plane import POD_LOGS_ADD_ON
from trainshed_constructs.kubernetes.pod_identity import pod_principal
from trainshed_constructs.wildcards import acknowledge_wildcards, own_arn

# The add-on's own names, which it would make without a retention.
_GROUPS = ("application", "dataplane", "host", "performance")
_ACCOUNT = "cloudwatch-agent"
# By default each observation of Container Insights is billed, and each request to an application.
_CONFIGURATION = {
    "agent": {
        "config": {
            "logs": {
                "metrics_collected": {"kubernetes": {"enhanced_container_insights": False}},
            }
        }
    }
}


class PodLogs(Construct):
    """Fluent Bit on each node, which sends what pods print to CloudWatch Logs.

    Kubernetes deletes the output of a pod with the pod. This is AWS's add-on
    `amazon-cloudwatch-observability`, which runs on tainted nodes, too. It also brings the
    CloudWatch agent: with what Container Insights had before it was enhanced, and without
    Application Signals, which are billed by what is observed.

    Its log groups have names that the add-on fixes, so they go with the control plane, after three
    months at the latest.

    Follows the CloudWatch user guide, "Install the CloudWatch agent with the Amazon CloudWatch
    Observability EKS add-on". Inferred: that its role needs no more than logs and a look at tags
    and volumes; the guide has the policy CloudWatchAgentServerPolicy.

    Example::

        from aws_cdk import App, CfnResource, Stack
        from trainshed_constructs import PodLogs

        stack = Stack(App(), "ControlPlane")
        nodes = CfnResource(stack, "Nodes", type="AWS::EKS::Nodegroup")
        PodLogs(stack, "PodLogs", cluster_name="train", nodes=nodes)
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        nodes: CfnResource,
        version: str | None = None,
    ) -> None:
        """Declare the add-on, its role and its log groups.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster_name: of the EKS cluster.
            nodes: that it first runs on.
            version: of the add-on; by default the one that EKS takes.
        """
        super().__init__(scope, construct_id)
        folder = f"/aws/containerinsights/{cluster_name}"
        groups = [
            logs.LogGroup(
                self,
                name.capitalize(),
                log_group_name=f"{folder}/{name}",
                retention=logs.RetentionDays.THREE_MONTHS,
                removal_policy=RemovalPolicy.DESTROY,
            )
            for name in _GROUPS
        ]
        role = self._role(own_arn("logs", f"log-group:{folder}/*"))
        add_on = eks.CfnAddon(
            self,
            "AddOn",
            addon_name=POD_LOGS_ADD_ON,
            addon_version=version,
            cluster_name=cluster_name,
            configuration_values=json.dumps(_CONFIGURATION),
            pod_identity_associations=[
                eks.CfnAddon.PodIdentityAssociationProperty(
                    service_account=_ACCOUNT, role_arn=role.role_arn
                )
            ],
            resolve_conflicts="OVERWRITE",
        )
        add_on.add_resource_dependency(nodes)
        for group in groups:
            add_on.node.add_dependency(group)

    def _role(self, log_groups: str) -> iam.Role:
        statements = [
            iam.PolicyStatement(
                sid="SendLogs",
                # Fluent Bit asks for the group to be made, though it is there.
                actions=[
                    "logs:CreateLogGroup",
                    "logs:CreateLogStream",
                    "logs:DescribeLogStreams",
                    "logs:PutLogEvents",
                ],
                resources=[log_groups],
            ),
            iam.PolicyStatement(
                sid="NameNodes",
                actions=["ec2:DescribeTags", "ec2:DescribeVolumes", "logs:DescribeLogGroups"],
                resources=["*"],
            ),
        ]
        role = iam.Role(
            self,
            "Role",
            description="Fluent Bit and the CloudWatch agent of a cluster of Amazon EKS",
            assumed_by=pod_principal(),
            inline_policies={"Logs": iam.PolicyDocument(statements=statements)},
        )
        acknowledge_wildcards(
            role,
            {
                log_groups: "all log groups of this cluster, and the streams of its nodes",
                "*": "these actions take no resource (Service Authorization Reference)",
            },
        )
        return role

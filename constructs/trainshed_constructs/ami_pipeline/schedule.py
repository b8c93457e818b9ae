"""Starting builds on a schedule."""

from collections.abc import Mapping

from aws_cdk import Aws
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from constructs import Construct


class BuildSchedule(Construct):
    """EventBridge rules that start a build of each project at the same times."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        projects: Mapping[str, codebuild.CfnProject],
        expression: str,
    ) -> None:
        """Declare the rules.

        Args:
            scope: parent.
            construct_id: id within the parent.
            projects: what to start, by a name that may be in a construct's id.
            expression: EventBridge's `cron(...)` in UTC, or `rate(...)`.
        """
        super().__init__(scope, construct_id)
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "events.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
            description="Starts builds of AMIs on schedule",
            inline_policies={
                "Start": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            actions=["codebuild:StartBuild"],
                            resources=[project.attr_arn for project in projects.values()],
                        )
                    ]
                )
            },
        )
        # One rule for each, as a rule takes five targets. L1: the L2 targets come in one module
        # that loads every service which can be one.
        for name, project in projects.items():
            events.CfnRule(
                self,
                name,
                description=f"Bakes the AMI of {name} on schedule",
                schedule_expression=expression,
                targets=[
                    events.CfnRule.TargetProperty(
                        id="Build", arn=project.attr_arn, role_arn=role.role_arn
                    )
                ],
            )

"""Baking AMIs on AWS: a stack of its own, which no cluster needs in order to run."""

import aws_cdk as cdk
from constructs import Construct

from trainshed.documents.problems import Problem
from trainshed.plan.pipeline import AmiPipelinePlan
from trainshed.spec import SpecError
from trainshed_constructs.ami_pipeline.pipeline import AmiPipeline
from trainshed_stacks.owned_stack import OwnedStack


class AmiPipelineStack(OwnedStack):
    """One AMI pipeline.

    Attributes:
        pipeline: the construct.
    """

    def __init__(self, scope: Construct, *, plan: AmiPipelinePlan) -> None:
        """Declare the stack, called as the plan says.

        Args:
            scope: the app.
            plan: the pipeline.
        """
        super().__init__(
            scope, plan.spec.name, owners=[plan], description="Bakes AMIs of training clusters"
        )
        self.pipeline = AmiPipeline(self, "Pipeline", spec=plan.spec, tools=plan.tools)
        self._add_outputs()

    def _add_outputs(self) -> None:
        for cell, project in self.pipeline.projects.items():
            cdk.CfnOutput(
                self,
                f"{cell.accelerator.title()}{cell.agent.title()}Project",
                description=f"CodeBuild project of {cell}, for aws codebuild start-build",
                value=project.ref,
            )
        cdk.CfnOutput(
            self,
            "Reports",
            description="Bucket of the reports of builds",
            value=self.pipeline.records.reports.bucket_name,
        )
        cdk.CfnOutput(
            self,
            "Topic",
            description="Topic with the result of each build",
            value=self.pipeline.notifications.topic.topic_arn,
        )


def add_ami_pipeline(scope: Construct, plan: AmiPipelinePlan) -> AmiPipelineStack:
    """Add the stack of an AMI pipeline to an app.

    Raises:
        SpecError: a cluster's stack has its name.
    """
    name = plan.spec.name
    if scope.node.try_find_child(name):
        message = f"{name!r} is the name of another stack; give the pipeline one of its own"
        raise SpecError([Problem(where=plan.spec.where, path=("name",), message=message)])
    return AmiPipelineStack(scope, plan=plan)

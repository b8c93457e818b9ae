"""Baking AMIs on AWS: AWS CodeBuild runs Packer on a schedule, on a commit, or both."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.pins.model import BuildTools
from trainshed.spec import AmiPipelineSpec
from trainshed_constructs.ami_pipeline.build_project import ami_build_project, github_source
from trainshed_constructs.ami_pipeline.build_role import (
    bake_statements,
    bake_wildcards,
    encrypt_statements,
    publish_statement,
)
from trainshed_constructs.ami_pipeline.builder_role import AmiBuilderRole
from trainshed_constructs.ami_pipeline.buildspec import ami_buildspec
from trainshed_constructs.ami_pipeline.notifications import BuildNotifications
from trainshed_constructs.ami_pipeline.policy_size import check_policy_size
from trainshed_constructs.ami_pipeline.records import BuildRecords
from trainshed_constructs.ami_pipeline.schedule import BuildSchedule
from trainshed_constructs.wildcards import acknowledge_wildcards


class AmiPipeline(Construct):
    """One CodeBuild project for each cell, which bakes an AMI, tests it and publishes it.

    It runs what a person runs, `trainshed ami build` and `trainshed ami publish --test`, from the
    repository's checkout, with Packer and its plugin checked against their sha256.

    - Source: a GitHub repository over a connection of AWS CodeConnections, so no token is stored.
      The connection is authorised by hand, in the console; a template cannot.
    - The build instance is reached by Session Manager: no port is opened, and its own role allows
      just that. The role of the builds makes no roles, opens no ports, touches no instance but
      those tagged as its own, and writes one channel of each cell.
    - Each project builds once at a time. CodeBuild refuses a build that is due meanwhile, and a
      commit does not ask twice: the next one, or the next time on the schedule, makes up for it.
    - Logs, reports and messages are encrypted with one key. Reports (manifest, self-test, software
      bill of materials) are kept when the stack is deleted, and so is the key that reads them.

    Attributes:
        projects: by cell, the CodeBuild project.
        role: of the builds.
        records: key, log group and bucket of reports, with one folder for each build.
        notifications: topic and rule.

    Example::

        from pathlib import Path

        from aws_cdk import App, Stack
        from trainshed.pins.reader import read_pins
        from trainshed.nodes.cells import Cell
        from trainshed.spec import AmiPipelineSpec
        from trainshed_constructs.ami_pipeline.pipeline import AmiPipeline

        stack = Stack(App(), "Images")
        spec = AmiPipelineSpec(
            repository="https://github.com/example/trainshed",
            connection="arn:aws:codeconnections:us-west-2:123456789012:connection/"
            "0a1b2c3d-4e5f-6789-abcd-ef0123456789",
            cells=[Cell("neuron/ecs")],
            schedule="cron(0 3 ? * SUN *)",
        )
        tools = read_pins(Path("packer/pins.json")).tools
        AmiPipeline(stack, "Pipeline", spec=spec, tools=tools)
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: AmiPipelineSpec,
        tools: BuildTools,
    ) -> None:
        """Declare the projects and what they need.

        Args:
            scope: parent.
            construct_id: id within the parent.
            spec: what to bake, when, and where to publish it; its name, account, region, owner,
                tags and IAM rules are for the stack.
            tools: what bakes.

        Raises:
            ConstructError: with so many cells, regions and subnets IAM would refuse the role.
        """
        super().__init__(scope, construct_id)
        self.records = BuildRecords(self, "Records", kms_key_arn=spec.kms_key)
        builder = AmiBuilderRole(self, "Builder")
        statements = [
            *bake_statements(
                spec,
                builder_role_arn=builder.role.role_arn,
                builder_profile_arn=builder.profile.attr_arn,
            ),
            publish_statement(spec),
            *(encrypt_statements(spec.kms_key) if spec.kms_key else ()),
            iam.PolicyStatement(
                sid="Source",
                actions=["codeconnections:GetConnection", "codeconnections:GetConnectionToken"],
                resources=[spec.connection],
            ),
            *self.records.write_statements(),
        ]
        check_policy_size(self, statements, shorten_by="take fewer cells, regions or subnets")
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "codebuild.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
            description="Builds of AMIs",
            inline_policies={"Bake": iam.PolicyDocument(statements=statements)},
        )
        acknowledge_wildcards(
            self.role,
            {
                **bake_wildcards(spec),
                **self.records.write_wildcards(),
            },
        )
        source = github_source(spec, ami_buildspec(spec, tools))
        self.projects = {
            cell: ami_build_project(
                self,
                spec,
                cell=cell,
                source=source,
                image=tools.image,
                role=self.role,
                instance_profile=builder.profile.ref,
                records=self.records,
            )
            for cell in spec.cells
        }
        if spec.schedule:
            BuildSchedule(
                self,
                "Schedule",
                projects={project.node.id: project for project in self.projects.values()},
                expression=spec.schedule,
            )
        self.notifications = BuildNotifications(
            self,
            "Notifications",
            project_names=[project.ref for project in self.projects.values()],
            key=self.records.key,
            addresses=spec.notify,
        )

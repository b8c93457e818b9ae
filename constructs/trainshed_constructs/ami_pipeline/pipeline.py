"""Baking AMIs on AWS: AWS CodeBuild runs Packer on a schedule, on a commit, or both."""

from collections.abc import Sequence

from aws_cdk import Aws, Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.cells import Cell
from trainshed.pins.model import BuildTools
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

        from aws_cdk import App, Duration, Stack
        from trainshed.pins.reader import read_pins
        from trainshed.cells import Cell
        from trainshed_constructs.ami_pipeline.pipeline import AmiPipeline

        stack = Stack(App(), "Images")
        AmiPipeline(
            stack,
            "Pipeline",
            repository="https://github.com/example/trainshed",
            connection_arn="arn:aws:codeconnections:us-west-2:123456789012:connection/"
            "0a1b2c3d-4e5f-6789-abcd-ef0123456789",
            branch="main",
            cells=[Cell("neuron/ecs")],
            tools=read_pins(Path("packer/pins.json")).tools,
            channel="candidate",
            timeout=Duration.hours(3),
            schedule="cron(0 3 ? * SUN *)",
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        repository: str,
        connection_arn: str,
        branch: str,
        cells: Sequence[Cell],
        tools: BuildTools,
        channel: str,
        timeout: Duration,
        schedule: str | None = None,
        on_commit: bool = False,
        addresses: Sequence[str] = (),
        regions: Sequence[str] = (),
        subnets: Sequence[str] = (),
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the projects and what they need.

        Args:
            scope: parent.
            construct_id: id within the parent.
            repository: https address on GitHub.
            connection_arn: of the connection, which must be authorised.
            branch: which is baked.
            cells: what is baked for.
            tools: what bakes.
            channel: to publish to.
            timeout: how long a bake may take, up to 34 hours.
            schedule: EventBridge's expression, in UTC; by default none.
            on_commit: bake when a commit on the branch changes packer/.
            addresses: e-mail addresses that get a message when a build ends.
            regions: to copy and publish to, beside the stack's.
            subnets: of the build instance, tried in turn; by default those of the default VPC.
            kms_key_arn: encrypts the AMIs, logs, reports and messages; by default the account's own
                key for EBS, and a new key for the rest.

        Raises:
            ConstructError: with so many cells, regions and subnets IAM would refuse the role.
        """
        super().__init__(scope, construct_id)
        self.records = BuildRecords(self, "Records", kms_key_arn=kms_key_arn)
        builder = AmiBuilderRole(self, "Builder")
        statements = [
            *bake_statements(
                builder_role_arn=builder.role.role_arn,
                builder_profile_arn=builder.profile.attr_arn,
                regions=regions,
                subnets=subnets,
            ),
            publish_statement(cells=cells, channel=channel, regions=regions),
            *(encrypt_statements(kms_key_arn) if kms_key_arn else ()),
            iam.PolicyStatement(
                sid="Source",
                actions=["codeconnections:GetConnection", "codeconnections:GetConnectionToken"],
                resources=[connection_arn],
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
                **bake_wildcards(regions=regions, subnets=subnets),
                **self.records.write_wildcards(),
            },
        )
        minutes = int(timeout.to_minutes())
        source = github_source(
            repository=repository,
            connection_arn=connection_arn,
            build_spec=ami_buildspec(
                tools=tools,
                channel=channel,
                regions=regions,
                subnets=subnets,
                kms_key_arn=kms_key_arn,
                minutes=minutes,
            ),
        )
        self.projects = {
            cell: ami_build_project(
                self,
                cell=cell,
                source=source,
                branch=branch,
                on_commit=on_commit,
                image=tools.image,
                role=self.role,
                instance_profile=builder.profile.ref,
                records=self.records,
                minutes=minutes,
            )
            for cell in cells
        }
        if schedule:
            BuildSchedule(
                self,
                "Schedule",
                projects={project.node.id: project for project in self.projects.values()},
                expression=schedule,
            )
        self.notifications = BuildNotifications(
            self,
            "Notifications",
            project_names=[project.ref for project in self.projects.values()],
            key=self.records.key,
            addresses=addresses,
        )

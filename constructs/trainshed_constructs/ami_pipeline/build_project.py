"""The CodeBuild project that bakes the AMI of one cell."""

import re

from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.nodes.cells import Cell
from trainshed.spec import AmiPipelineSpec
from trainshed.spec.pipeline import MOST_BUILD_MINUTES
from trainshed_constructs.ami_pipeline.records import BuildRecords

_Project = codebuild.CfnProject

# An hour's patience with the AMI after the bake, and one boot to test it.
_PUBLISHING_MINUTES = 90


def github_source(spec: AmiPipelineSpec, build_spec: str) -> codebuild.CfnProject.SourceProperty:
    """Return the pipeline's GitHub repository, read over its connection, as a project's source."""
    return _Project.SourceProperty(
        type="GITHUB",
        location=spec.repository,
        # The AMI is tagged with the commit, which takes no history.
        git_clone_depth=1,
        auth=_Project.SourceAuthProperty(type="CODECONNECTIONS", resource=spec.connection),
        build_spec=build_spec,
    )


def ami_build_project(
    scope: Construct,
    spec: AmiPipelineSpec,
    *,
    cell: Cell,
    source: codebuild.CfnProject.SourceProperty,
    image: str,
    role: iam.Role,
    instance_profile: str,
    records: BuildRecords,
) -> codebuild.CfnProject:
    """Declare the project of one cell.

    Args:
        scope: parent; the id is the cell's.
        spec: the pipeline.
        cell: what it bakes for.
        source: the repository and what to run.
        image: of CodeBuild.
        role: of the builds.
        instance_profile: name of the build instance's.
        records: logs and reports.
    """
    name = f"{cell.accelerator}-{cell.agent}"
    variables = {
        "ACCELERATOR": cell.accelerator,
        "ORCHESTRATOR": cell.agent,
        "INSTANCE_PROFILE": instance_profile,
    }
    # L1: the L2 Project gives its role every log group and report group of its name, and its
    # GitHub source takes no connection.
    return _Project(
        scope,
        name,
        description=f"Bakes and publishes the AMI of {cell}",
        service_role=role.role_arn,
        source=source,
        source_version=spec.branch,
        environment=_Project.EnvironmentProperty(
            type="LINUX_CONTAINER",
            compute_type="BUILD_GENERAL1_SMALL",
            image=image,
            environment_variables=[
                _Project.EnvironmentVariableProperty(name=key, value=value)
                for key, value in variables.items()
            ],
        ),
        artifacts=_Project.ArtifactsProperty(
            type="S3",
            location=records.reports.bucket_name,
            path=str(cell),
            namespace_type="BUILD_ID",
            name="report",
            packaging="NONE",
        ),
        encryption_key=records.key.key_arn,
        logs_config=_Project.LogsConfigProperty(
            cloud_watch_logs=_Project.CloudWatchLogsConfigProperty(
                status="ENABLED", group_name=records.log_group.log_group_name, stream_name=name
            )
        ),
        # Two builds of one cell would race for its channel; the second is refused. Only without a
        # limit would CodeBuild queue it (user guide, "Builds in AWS CodeBuild").
        concurrent_build_limit=1,
        timeout_in_minutes=min(spec.timeout_minutes + _PUBLISHING_MINUTES, MOST_BUILD_MINUTES),
        triggers=_pushes(spec.branch) if spec.on_commit else None,
    )


def _pushes(branch: str) -> codebuild.CfnProject.ProjectTriggersProperty:
    filters = {
        "EVENT": "PUSH",
        "HEAD_REF": f"^refs/heads/{re.escape(branch)}$",
        "FILE_PATH": "^packer/",
    }
    return _Project.ProjectTriggersProperty(
        webhook=True,
        filter_groups=[
            [
                _Project.WebhookFilterProperty(type=kind, pattern=pattern)
                for kind, pattern in filters.items()
            ]
        ],
    )

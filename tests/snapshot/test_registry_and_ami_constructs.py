"""What the constructs around images put into a template, whole, for review."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from syrupy.assertion import SnapshotAssertion

from trainshed.nodes.cells import Cell
from trainshed.pins.model import BuildTools
from trainshed.spec import AmiPipelineSpec
from trainshed_constructs import CachedBases, ContainerImageNotice, PinnedAmi
from trainshed_constructs.ami_pipeline.pipeline import AmiPipeline


def tool(name: str) -> dict[str, str]:
    """A pin that no rotation changes."""
    return {
        "version": "1.0",
        "url": f"https://example.com/{name}.zip",
        "sha256": "0" * 64,
        "basis": "documented",
    }


def pinned_ami(stack: cdk.Stack) -> None:
    PinnedAmi(stack, "Ami", ami="/trainshed/ami/neuron/ecs/stable", version=7, cell="neuron/ecs")


def container_image_notice(stack: cdk.Stack) -> None:
    ContainerImageNotice(
        stack,
        "ContainerImageNotice",
        repository_name="train",
        tag_or_digest="v1",
        job_definition_arn="arn:aws:batch:us-west-2:123456789012:job-definition/train:1",
        remedy="trainshed container push TrainCluster",
        list_command="trainshed container list TrainCluster",
    )


def cached_bases(stack: cdk.Stack) -> None:
    CachedBases(stack, "Bases", prefix="train-public")


def ami_pipeline(stack: cdk.Stack) -> None:
    spec = AmiPipelineSpec(
        repository="https://github.com/example/trainshed",
        connection="arn:aws:codeconnections:us-west-2:123456789012:connection/"
        "0a1b2c3d-4e5f-6789-abcd-ef0123456789",
        cells=(Cell("neuron/ecs"),),
        schedule="cron(0 3 ? * SUN *)",
        on_commit=True,
        notify=("ml-platform@example.com",),
        kms_key="arn:aws:kms:us-west-2:123456789012:key/0a1b2c3d-4e5f-6789-abcd-ef0123456789",
    )
    tools = {
        "packer": tool("packer"),
        "packer-plugin-amazon": tool("plugin"),
        "session-manager-plugin": tool("session-manager"),
        "codebuild-image": {
            "version": "1.0",
            "image": "aws/codebuild/standard:{version}",
            "basis": "documented",
        },
    }
    AmiPipeline(
        stack,
        "Pipeline",
        # A file may not have both a key and regions; one template shows the rights for both.
        spec=spec.model_copy(update={"regions": ("eu-west-1",)}),
        tools=BuildTools.model_validate(tools),
    )


@pytest.mark.parametrize(
    "build",
    [pinned_ami, container_image_notice, cached_bases, ami_pipeline],
    ids=lambda build: build.__name__,
)
def test_the_template_is_as_reviewed_and_has_no_unacknowledged_finding(
    build: Callable[[cdk.Stack], None],
    context: dict[str, Any],
    template_snapshot: Callable[[Any], Any],
    snapshot: SnapshotAssertion,
    tmp_path: Path,
) -> None:
    app = cdk.App(context=context, outdir=str(tmp_path))
    stack = cdk.Stack(app, "Stack")
    build(stack)

    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    # Synthesis, of which this is a part, fails on a finding.
    template = template_snapshot(Template.from_stack(stack).to_json())
    assert template == snapshot(name=build.__name__)

"""`trainshed orphans` finds what a deleted AMI pipeline keeps."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from trainshed.aws import Region
from trainshed.orphans.search import find_orphans
from trainshed.plan.pipeline import load_ami_pipeline
from trainshed.prices import load_prices
from trainshed_stacks.ami_pipeline_stack import add_ami_pipeline

ROOT = Path(__file__).parents[2]
PIPELINE = {
    "region": "us-west-2",
    "repository": "https://github.com/example/trainshed",
    "connection": "arn:aws:codeconnections:us-west-2:123456789012:connection/"
    "0a1b2c3d-4e5f-6789-abcd-ef0123456789",
    "cells": ["neuron/ecs"],
    "on_commit": True,
}


@pytest.fixture
def reports(project: Any, context: dict[str, Any], tmp_path: Path) -> str:
    """Deploy a pipeline, and return the name of its bucket."""
    (tmp_path / "p.yaml").write_text(json.dumps(PIPELINE))
    app = cdk.App(context=context, outdir=str(tmp_path / "out"))
    add_ami_pipeline(app, load_ami_pipeline(tmp_path / "p.yaml", pins=ROOT / "packer/pins.json"))
    app.synth()
    template = json.loads((tmp_path / "out/AmiPipeline.template.json").read_text())
    return str(project.aws.deploy(template, stack_name="AmiPipeline").outputs["Reports"])


def test_the_reports_and_the_key_of_a_deleted_pipeline(project: Any, reports: str) -> None:
    assert project.orphans() == {"waste": [], "kept": [], "unseen": []}
    project.aws.client("cloudformation").delete_stack(StackName="AmiPipeline")

    bucket, key = project.orphans()["kept"]

    assert (bucket["what"], bucket["name"], bucket["usd_per_month"]) == ("bucket", reports, None)
    assert bucket["why"].startswith("reports of AMI builds of the stack amipipeline;")
    assert (key["what"], key["usd_per_month"]) == ("key", 1)
    assert key["why"] == "it encrypts the reports of AMI builds"
    for each in (bucket, key):
        project.run(each["command"])
    assert project.orphans() == {"waste": [], "kept": [], "unseen": []}


@pytest.mark.parametrize(("place", "number"), [("us-west-2", 1), ("eu-west-1", 0)])
def test_reports_are_those_of_the_region_only(project: Any, place: str, number: int) -> None:
    project.aws.client("s3").create_bucket(
        Bucket="other-pipelinerecordsreports0a1b2c3d-abcdefgh1234",
        CreateBucketConfiguration={"LocationConstraint": "us-west-2"},
    )

    def client(service: str) -> Any:
        made = project.aws.client(service)
        made.meta.events.register("after-call.s3.HeadBucket", is_there)
        return made

    def is_there(parsed: Any, **_: Any) -> None:
        parsed["BucketRegion"] = place

    region = Region("us-west-2", client=client)
    found, unseen = find_orphans(region, (), load_prices("us-west-2"), now=datetime.now(UTC))

    assert (len(found), unseen) == (number, [])

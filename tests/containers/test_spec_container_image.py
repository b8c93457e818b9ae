"""Which image a job runs: a tag or a digest of its own repository, or any other image."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from batch_plans import batch_of
from pydantic import ValidationError

from trainshed.plan import make_plan
from trainshed.spec import ClusterSpec
from trainshed_stacks import TrainClusterStack

DIGEST = f"sha256:{'0123456789abcdef' * 4}"


def spec(**image: str) -> ClusterSpec:
    fields: dict[str, Any] = {
        "name": "TrainCluster",
        "region": "us-west-2",
        "account": "123456789012",
        "instance": {"type": "trn1.32xlarge"},
        "image": image,
    }
    return ClusterSpec.model_validate(fields)


@pytest.mark.parametrize(
    ("image", "tag", "digest"),
    [
        pytest.param({}, "v1", None, id="neither"),
        pytest.param({"tag": "v2"}, "v2", None, id="tag"),
        pytest.param({"digest": DIGEST}, None, DIGEST, id="digest"),
    ],
)
def test_a_plan_has_a_tag_or_a_digest(
    image: dict[str, str], tag: str | None, digest: str | None
) -> None:
    planned = batch_of(make_plan(spec(**image))).image

    assert (planned.tag, planned.digest) == (tag, digest)
    assert planned.tag_or_digest == (tag or digest)


def test_both_are_refused() -> None:
    with pytest.raises(ValidationError, match="names an image, and so does tag, 'v1'"):
        spec(tag="v1", digest=DIGEST)


@pytest.mark.parametrize(
    ("image", "end"),
    [
        pytest.param({"tag": "v2"}, "/train:v2", id="tag"),
        pytest.param({"digest": DIGEST}, f"/train@{DIGEST}", id="digest"),
    ],
)
def test_the_job_definition_names_exactly_that_image(image: dict[str, str], end: str) -> None:
    stack = TrainClusterStack(cdk.App(), "TrainCluster", cluster=spec(**image))

    (definition,) = Template.from_stack(stack).find_resources("AWS::Batch::JobDefinition").values()

    ranges = definition["Properties"]["NodeProperties"]["NodeRangeProperties"]
    assert ranges
    for each in ranges:
        named = json.dumps(each["Container"]["Image"])
        assert named.rstrip('"]}').endswith(end)


OTHER = "210987654321.dkr.ecr.eu-west-1.amazonaws.com/team/train:v1"


@pytest.mark.parametrize(
    ("uri", "rights"),
    [
        pytest.param(
            OTHER, ["ecr:eu-west-1:210987654321:repository/team/train"], id="ecr-elsewhere"
        ),
        pytest.param("public.ecr.aws/hpc-cloud/nccl-tests:v1", [], id="public"),
    ],
)
def test_a_job_may_run_any_image_without_a_repository_of_its_own(
    uri: str, rights: list[str]
) -> None:
    app = cdk.App()
    stack = TrainClusterStack(app, "TrainCluster", cluster=spec(uri=uri))

    template = Template.from_stack(stack)

    (definition,) = template.find_resources("AWS::Batch::JobDefinition").values()
    (nodes,) = definition["Properties"]["NodeProperties"]["NodeRangeProperties"]
    pulls = [
        statement["Resource"]["Fn::Join"][1][-1].strip(":")
        for policy in template.find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if "ecr:BatchGetImage" in statement["Action"]
    ]
    assert nodes["Container"]["Image"] == uri
    assert pulls == rights
    assert "TrainContainers" not in [each.node.id for each in app.node.children]

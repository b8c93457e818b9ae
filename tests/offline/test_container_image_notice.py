"""What a stack says about a container image that may not be there: it never fails."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import App, CfnOutput, Stack
from aws_cdk.assertions import Template

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from trainshed_constructs import ContainerImageNotice

REMEDY, LIST = "push it", "trainshed container list Train"
TIME = r"at 20\d\d-\d\d-\d\d \d\d:\d\d UTC, "

Notice = Callable[..., str]


@pytest.fixture
def notice(deployed: Callable[..., Any]) -> Notice:
    """Deploys a stack with a notice, or updates it, and returns what it says, without the time."""

    def deploy(tag_or_digest: str = "v1", *, revision: int = 1) -> str:
        stack = Stack(App(), "Compute")
        notice = ContainerImageNotice(
            stack,
            "ContainerImageNotice",
            repository_name="train",
            tag_or_digest=tag_or_digest,
            job_definition_arn=f"arn:aws:batch:us-west-2:123456789012:job-definition/j:{revision}",
            remedy=REMEDY,
            list_command=LIST,
        )
        CfnOutput(stack, "ContainerImage", value=notice.text)
        outputs = deployed(Template.from_stack(stack).to_json(), stack_name="Compute").outputs
        said: str = outputs["ContainerImage"]
        assert re.match(TIME, said)
        return re.sub(TIME, "", said)

    return deploy


@pytest.fixture
def push(clean_aws: EmbeddedAws, push_image: Callable[..., str]) -> Callable[[str], str]:
    """Makes the repository, and pushes an image under a tag; returns its digest."""

    def run(tag: str) -> str:
        clean_aws.client("ecr").create_repository(repositoryName="train")
        return push_image(clean_aws, "train", tag)

    return run


def test_without_a_repository_it_says_so(notice: Notice) -> None:
    assert notice() == f"there was no repository train yet; {REMEDY}"


def test_a_missing_image_is_reported_with_the_remedy(
    notice: Notice, push: Callable[..., str]
) -> None:
    push("v2")

    assert notice() == f"image train:v1 was not there yet; {REMEDY} (look again: {LIST})"


def test_an_image_that_is_there_is_reported_with_its_digest(
    notice: Notice, push: Callable[..., str]
) -> None:
    digest = push("v1")

    assert notice() == f"image train:v1 was there ({digest})"
    assert notice(digest) == f"image train@{digest} was there ({digest})"


def test_it_asks_again_only_for_another_revision_of_the_job_definition(
    notice: Notice, push: Callable[..., str]
) -> None:
    before = notice()
    digest = push("v1")

    assert notice() == before
    assert notice(revision=2) == f"image train:v1 was there ({digest})"


def test_an_answer_that_cannot_be_had_fails_nothing(clean_aws: EmbeddedAws, notice: Notice) -> None:
    fault = Fault(service="ecr", operation="DescribeImages", code="InvalidParameter")
    clean_aws.fail(fault)
    said = notice()
    clean_aws.fail(replace(fault, message="long " * 300))

    cut = notice(revision=2)

    assert said.startswith("image train:v1 was not looked for (")
    assert "InvalidParameter" in said and said.endswith(f"; see {LIST}")
    # An output of more than 1024 bytes would fail the stack.
    assert len(cut) < 1024 and cut.startswith("image train:v1 was not looked for (")

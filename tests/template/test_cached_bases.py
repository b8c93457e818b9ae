"""CachedBases, and the prefix that each repository's cache has."""

import json
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Template

from trainshed.plan import RepositoryPlan
from trainshed_constructs import CachedBases, ConstructError


def template(prefix: str = "train-public") -> Template:
    stack = Stack(App(), "Images")
    CachedBases(stack, "Bases", prefix=prefix)
    return Template.from_stack(stack)


def test_the_public_registry_is_cached_under_the_prefix() -> None:
    template().has_resource_properties(
        "AWS::ECR::PullThroughCacheRule",
        {"EcrRepositoryPrefix": "train-public", "UpstreamRegistryUrl": "public.ecr.aws"},
    )


def test_cached_images_are_immutable_encrypted_and_go_in_time() -> None:
    [found] = template().find_resources("AWS::ECR::RepositoryCreationTemplate").values()

    properties: dict[str, Any] = found["Properties"]
    assert properties["Prefix"] == "train-public"
    assert properties["AppliedFor"] == ["PULL_THROUGH_CACHE"]
    assert properties["ImageTagMutability"] == "IMMUTABLE"
    assert properties["EncryptionConfiguration"] == {"EncryptionType": "AES256"}
    [rule] = json.loads(properties["LifecyclePolicy"])["rules"]
    # An image pulled by digest has no tag.
    assert (rule["selection"]["tagStatus"], rule["action"]) == ("any", {"type": "expire"})


def test_nothing_is_pulled_before_its_template_is_there() -> None:
    found = template()
    [rule] = found.find_resources("AWS::ECR::PullThroughCacheRule").values()

    assert rule["DependsOn"] == list(found.find_resources("AWS::ECR::RepositoryCreationTemplate"))


@pytest.mark.parametrize("prefix", ["x", "x" * 31])
def test_a_prefix_of_another_length_is_refused(prefix: str) -> None:
    with pytest.raises(ConstructError, match="ECR takes 2 to 30"):
        template(prefix)


@pytest.mark.parametrize(
    ("repository", "prefix"),
    [
        ("train", "train-public"),
        ("team/train", "team/train-public"),
        ("a" * 23, "a" * 23 + "-public"),
        ("a" * 24, "a" * 14 + "-09f61f8d-public"),
        ("abcdefghijklm.nopqrstuvwxyz", "abcdefghijklm-3851f81a-public"),
    ],
)
def test_a_cache_is_named_after_its_repository(repository: str, prefix: str) -> None:
    plan = RepositoryPlan(name=repository, stack_name="Images")

    assert plan.cache_prefix == prefix


def test_long_names_that_begin_alike_have_prefixes_of_their_own() -> None:
    names = [f"{'research' * 4}/{letter}" for letter in "abcdef"]

    prefixes = {RepositoryPlan(name=name, stack_name="X").cache_prefix for name in names}

    assert len(prefixes) == len(names)
    assert all(len(prefix) <= 30 for prefix in prefixes)

"""What ECR refuses of cached upstreams and of templates."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

Refusal = Callable[..., Any]


def test_without_a_registry_nobody_is_led_to_awss_own(
    client: Callable[..., Any], refusal: Refusal
) -> None:
    refused = refusal(client("ecr").get_authorization_token)

    assert "stores no images: start it with --registry" in refused.message


@pytest.mark.parametrize(
    ("rule", "code", "words"),
    [
        (
            {"ecrRepositoryPrefix": "x" * 31, "upstreamRegistryUrl": "public.ecr.aws"},
            "InvalidParameterException",
            "length less than or equal to 30",
        ),
        (
            {"ecrRepositoryPrefix": "Bases", "upstreamRegistryUrl": "public.ecr.aws"},
            "InvalidParameterException",
            "ecrRepositoryPrefix",
        ),
        (
            {"ecrRepositoryPrefix": "habana", "upstreamRegistryUrl": "vault.habana.ai"},
            "UnsupportedUpstreamRegistryException",
            "The upstream registry 'vault.habana.ai' is not supported",
        ),
        (
            {"ecrRepositoryPrefix": "hub", "upstreamRegistryUrl": "registry-1.docker.io"},
            "InvalidParameterException",
            "credentialArn is required",
        ),
        (
            {
                "ecrRepositoryPrefix": "ecr",
                "upstreamRegistryUrl": "999999999999.dkr.ecr.us-west-2.amazonaws.com",
            },
            "InvalidParameterException",
            "customRoleArn is required",
        ),
        (
            {
                "ecrRepositoryPrefix": "public",
                "upstreamRegistryUrl": "public.ecr.aws",
                "upstreamRegistry": "quay",
            },
            "InvalidParameterException",
            "does not match",
        ),
    ],
)
def test_a_rule_that_ecr_would_not_take_is_refused(
    client: Callable[..., Any], refusal: Refusal, rule: Mapping[str, str], code: str, words: str
) -> None:
    refused = refusal(client("ecr").create_pull_through_cache_rule, **rule)

    assert refused.code == code
    assert words in refused.message


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"appliedFor": ["PULL"]}, "Value 'PULL' at 'appliedFor.member'"),
        ({"encryptionConfiguration": {"encryptionType": "KMS"}}, "customRoleArn"),
        ({"resourceTags": [{"Key": "a", "Value": "b"}]}, "customRoleArn"),
        ({"lifecyclePolicy": "none"}, "must be JSON"),
    ],
)
def test_a_template_that_ecr_would_not_take_is_refused(
    client: Callable[..., Any],
    refusal: Refusal,
    name: str,
    settings: Mapping[str, Any],
    words: str,
) -> None:
    template = {"prefix": name, "appliedFor": ["PULL_THROUGH_CACHE"], **settings}

    refused = refusal(client("ecr").create_repository_creation_template, **template)

    assert refused.code == "InvalidParameterException"
    assert words in refused.message


def test_a_registry_has_fifty_rules(client: Callable[..., Any], refusal: Refusal) -> None:
    # A region of its own, so that no other test finds it full.
    ecr = client("ecr", "eu-west-1")
    for number in range(50):
        ecr.create_pull_through_cache_rule(
            ecrRepositoryPrefix=f"cache{number}", upstreamRegistryUrl="public.ecr.aws"
        )

    refused = refusal(
        ecr.create_pull_through_cache_rule,
        ecrRepositoryPrefix="cache50",
        upstreamRegistryUrl="public.ecr.aws",
    )

    assert refused.code == "LimitExceededException"

"""What holds for a whole registry, through its handlers."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

EXPIRE = json.dumps(
    {
        "rules": [
            {
                "rulePriority": 1,
                "selection": {
                    "tagStatus": "any",
                    "countType": "sinceImagePushed",
                    "countUnit": "days",
                    "countNumber": 90,
                },
                "action": {"type": "expire"},
            }
        ]
    }
)


def test_an_upstream_is_cached_until_its_rule_goes(client: Any, deploy: Any) -> None:
    ecr = client("ecr")
    rule = deploy(
        "AWS::ECR::PullThroughCacheRule",
        EcrRepositoryPrefix="train-public",
        UpstreamRegistryUrl="public.ecr.aws",
    )

    [found] = ecr.describe_pull_through_cache_rules(ecrRepositoryPrefixes=[rule.ref])[
        "pullThroughCacheRules"
    ]

    assert (rule.ref, found["upstreamRegistry"]) == ("train-public", "ecr-public")
    rule.delete()
    rule.delete()
    with pytest.raises(ClientError, match="not found"):
        ecr.describe_pull_through_cache_rules(ecrRepositoryPrefixes=[rule.ref])


def test_a_prefix_is_taken_once(deploy: Any) -> None:
    properties = {
        "EcrRepositoryPrefix": "twice-public",
        "UpstreamRegistryUrl": "public.ecr.aws",
    }
    rule = deploy("AWS::ECR::PullThroughCacheRule", **properties)

    with pytest.raises(ClientError, match="'twice-public' already exists"):
        deploy("AWS::ECR::PullThroughCacheRule", **properties)

    rule.delete()


def test_a_template_changes_in_place_and_loses_what_is_dropped(client: Any, deploy: Any) -> None:
    ecr = client("ecr")
    template = deploy(
        "AWS::ECR::RepositoryCreationTemplate",
        Prefix="bases",
        AppliedFor=["PULL_THROUGH_CACHE"],
        ImageTagMutability="IMMUTABLE",
        LifecyclePolicy=EXPIRE,
    )

    template.update("LifecyclePolicy", Description="bases", ImageTagMutability="MUTABLE")

    [found] = ecr.describe_repository_creation_templates(prefixes=["bases"])[
        "repositoryCreationTemplates"
    ]
    assert found["description"] == "bases"
    assert found["imageTagMutability"] == "MUTABLE"
    assert not found["lifecyclePolicy"]
    assert found["encryptionConfiguration"] == {"encryptionType": "AES256"}
    template.delete()
    template.delete()
    reply = ecr.describe_repository_creation_templates(prefixes=["bases"])
    assert not reply["repositoryCreationTemplates"]

"""Image repositories through their handler."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

LIFECYCLE = json.dumps(
    {
        "rules": [
            {
                "rulePriority": 1,
                "selection": {
                    "tagStatus": "untagged",
                    "countType": "sinceImagePushed",
                    "countUnit": "days",
                    "countNumber": 365,
                },
                "action": {"type": "expire"},
            }
        ]
    }
)
POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Sid": "Pull",
            "Effect": "Allow",
            "Principal": {"Service": "lambda.amazonaws.com"},
            "Action": "ecr:BatchGetImage",
        }
    ],
}


@pytest.fixture
def repository(deploy: Any) -> Any:
    return deploy(
        "AWS::ECR::Repository",
        "Train",
        ImageTagMutability="IMMUTABLE",
        ImageScanningConfiguration={"ScanOnPush": True},
        LifecyclePolicy={"LifecyclePolicyText": LIFECYCLE},
        RepositoryPolicyText=POLICY,
        Tags=[{"Key": "Name", "Value": "train"}],
    )


def push(client: Any, repository: Any) -> None:
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": {"digest": "sha256:0"},
        "layers": [],
    }
    client("ecr").put_image(
        repositoryName=repository.ref, imageManifest=json.dumps(manifest), imageTag="1"
    )


def test_a_repository_is_as_the_template_says(client: Any, repository: Any) -> None:
    ecr = client("ecr")

    described = ecr.describe_repositories(repositoryNames=[repository.ref])["repositories"][0]

    assert repository.ref.startswith("stack-train-")
    assert described["repositoryUri"] == repository.attributes["RepositoryUri"]
    assert described["imageTagMutability"] == "IMMUTABLE"
    assert described["imageScanningConfiguration"] == {"scanOnPush": True}
    lifecycle = ecr.get_lifecycle_policy(repositoryName=repository.ref)["lifecyclePolicyText"]
    assert json.loads(lifecycle) == json.loads(LIFECYCLE)
    policy = ecr.get_repository_policy(repositoryName=repository.ref)["policyText"]
    assert json.loads(policy) == POLICY
    tags = ecr.list_tags_for_resource(resourceArn=repository.attributes["Arn"])["tags"]
    assert {"Key": "Name", "Value": "train"} in tags


def test_a_repository_loses_what_the_template_drops(client: Any, repository: Any) -> None:
    ecr = client("ecr")

    repository.update(
        "LifecyclePolicy",
        "RepositoryPolicyText",
        "ImageScanningConfiguration",
        ImageTagMutability="MUTABLE",
    )

    described = ecr.describe_repositories(repositoryNames=[repository.ref])["repositories"][0]
    assert described["imageTagMutability"] == "MUTABLE"
    assert described["imageScanningConfiguration"] == {"scanOnPush": False}
    with pytest.raises(ClientError, match="LifecyclePolicyNotFound"):
        ecr.get_lifecycle_policy(repositoryName=repository.ref)
    with pytest.raises(ClientError, match="RepositoryPolicyNotFound"):
        ecr.get_repository_policy(repositoryName=repository.ref)


def test_a_lifecycle_policy_without_text_is_no_policy(client: Any, repository: Any) -> None:
    repository.update(LifecyclePolicy={"RegistryId": "210987654321"})

    with pytest.raises(ClientError, match="LifecyclePolicyNotFound"):
        client("ecr").get_lifecycle_policy(repositoryName=repository.ref)


def test_a_repository_with_images_is_deleted_only_when_it_may_be_emptied(
    client: Any, repository: Any
) -> None:
    push(client, repository)

    with pytest.raises(ClientError, match="RepositoryNotEmpty"):
        repository.delete()
    repository.update(EmptyOnDelete=True)
    repository.delete()
    repository.delete()

    with pytest.raises(ClientError, match="RepositoryNotFound"):
        client("ecr").describe_repositories(repositoryNames=[repository.ref])


def test_a_repository_without_properties_gets_some_later(client: Any, deploy: Any) -> None:
    repository = deploy("AWS::ECR::Repository")

    repository.update(ImageTagMutability="IMMUTABLE")

    reply = client("ecr").describe_repositories(repositoryNames=[repository.ref])
    assert reply["repositories"][0]["imageTagMutability"] == "IMMUTABLE"

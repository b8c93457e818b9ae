"""Secrets through their handler."""

import json
from typing import Any

import pytest

from embedded_aws.cloudformation.resource import HandlerError


def value_of(client: Any, secret: Any) -> str:
    value: str = client("secretsmanager").get_secret_value(SecretId=secret.ref)["SecretString"]
    return value


def test_a_password_is_generated_into_the_template(client: Any, deploy: Any) -> None:
    secret = deploy(
        "AWS::SecretsManager::Secret",
        GenerateSecretString={
            "SecretStringTemplate": '{"username": "slurm"}',
            "GenerateStringKey": "password",
            "PasswordLength": 20,
            "ExcludePunctuation": True,
        },
    )

    value = json.loads(value_of(client, secret))

    assert value["username"] == "slurm"
    assert len(value["password"]) == 20
    assert value["password"].isalnum()


def test_a_changed_description_keeps_the_password(client: Any, deploy: Any) -> None:
    secret = deploy("AWS::SecretsManager::Secret", GenerateSecretString={}, Description="first")
    first = value_of(client, secret)

    secret.update(Description="second")

    described = client("secretsmanager").describe_secret(SecretId=secret.ref)
    assert described["Description"] == "second"
    assert value_of(client, secret) == first


def test_a_changed_generation_makes_another_password(client: Any, deploy: Any) -> None:
    secret = deploy("AWS::SecretsManager::Secret", GenerateSecretString={"PasswordLength": 16})

    secret.update(GenerateSecretString={"PasswordLength": 24})

    assert len(value_of(client, secret)) == 24


def test_a_deleted_secret_gives_its_name_back(client: Any, deploy: Any) -> None:
    secret = deploy("AWS::SecretsManager::Secret", Name="db", SecretString="one")

    secret.delete()
    secret.delete()
    again = deploy("AWS::SecretsManager::Secret", Name="db", SecretString="two")

    assert value_of(client, again) == "two"
    again.delete()


def test_a_secret_without_a_name_is_named_after_itself(deploy: Any) -> None:
    secret = deploy("AWS::SecretsManager::Secret", "Database", SecretString="one")

    assert secret.ref.rpartition(":")[2].startswith("Database-")


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        pytest.param(
            {"SecretString": "a", "GenerateSecretString": {}}, "can't specify both", id="both"
        ),
        pytest.param(
            {"GenerateSecretString": {"GenerateStringKey": "password"}},
            "must be specified together",
            id="key-alone",
        ),
        pytest.param(
            {"GenerateSecretString": {"GenerateStringKey": "p", "SecretStringTemplate": "text"}},
            "must be a JSON object",
            id="no-object",
        ),
        pytest.param(
            {"ReplicaRegions": [{"Region": "us-east-1"}]}, "cannot set ReplicaRegions", id="replica"
        ),
    ],
)
def test_what_contradicts_itself_is_refused(
    deploy: Any, properties: dict[str, Any], words: str
) -> None:
    with pytest.raises(HandlerError, match=words):
        deploy("AWS::SecretsManager::Secret", **properties)

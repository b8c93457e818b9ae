"""The variables that lead AWS's tools to an embedded AWS."""

from pathlib import Path

import boto3
import pytest

from embedded_aws.environment import applied, variables
from embedded_aws.settings import ServerSettings

ENDPOINT = "http://localhost:4566"


def led(outer: dict[str, str]) -> dict[str, str]:
    changes = variables(ServerSettings(port=4566), cdk_home=Path("home"), outer=outer)
    return applied(changes, outer)


def test_real_credentials_and_other_endpoints_are_gone() -> None:
    outer = {
        "AWS_ACCESS_KEY_ID": "AKIAREAL",
        "AWS_SECRET_ACCESS_KEY": "real",
        "AWS_SESSION_TOKEN": "real",
        "AWS_PROFILE": "production",
        "AWS_ENDPOINT_URL_S3": "https://s3.us-west-2.amazonaws.com",
    }

    environment = led(outer)

    assert "AKIAREAL" not in environment.values()
    assert "real" not in environment.values()
    assert "AWS_PROFILE" not in environment
    assert "AWS_ENDPOINT_URL_S3" not in environment


def test_other_variables_stay() -> None:
    assert led({"PATH": "/bin"})["PATH"] == "/bin"


def test_a_proxy_is_not_asked_for_localhost() -> None:
    environment = led({"HTTP_PROXY": "http://proxy:3128", "no_proxy": "internal"})

    assert environment["NO_PROXY"] == environment["no_proxy"] == "internal,localhost,127.0.0.1"


def test_the_users_own_profiles_are_out_of_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text("[production]\naws_access_key_id = AKIAREAL\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("AWS_SHARED_CREDENTIALS_FILE", raising=False)
    assert "production" in boto3.Session().available_profiles

    for name, value in led({}).items():
        monkeypatch.setenv(name, value)

    assert boto3.Session().available_profiles == []


def test_boto3_follows_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in led({}).items():
        monkeypatch.setenv(name, value)

    client = boto3.client("ec2")

    assert (client.meta.endpoint_url, client.meta.region_name) == (ENDPOINT, "us-west-2")

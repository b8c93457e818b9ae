"""Tokens are what EKS reads: a presigned call of STS for one cluster."""

from base64 import urlsafe_b64decode
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from trainshed.aws import BadCredentials, Region
from trainshed.kubernetes.token import make_token


def test_a_token_is_a_presigned_call_for_one_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    token = make_token(Region("us-west-2"), "train")

    prefix, _, text = token.text.partition(".")
    assert prefix == "k8s-aws-v1"
    assert "=" not in text
    url = urlsplit(urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode())
    query = {name: value for name, [value] in parse_qs(url.query).items()}
    assert (url.scheme, url.hostname) == ("https", "sts.us-west-2.amazonaws.com")
    assert query["Action"] == "GetCallerIdentity"
    assert query["X-Amz-Expires"] == "60"
    assert query["X-Amz-SignedHeaders"] == "host;x-k8s-aws-id"
    assert not token.is_stale
    assert token.expires - datetime.now(UTC) <= timedelta(minutes=14)


def test_without_credentials_there_is_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")

    with pytest.raises(BadCredentials, match="no AWS credentials"):
        make_token(Region("us-west-2"), "train")

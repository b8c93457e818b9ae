"""Which requests an embedded AWS lets in."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import boto3
import pytest
from botocore.exceptions import ClientError

from embedded_aws.controls import CLOCK_PATH, RESET_PATH
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings

FIRST, SECOND = "111111111111", "222222222222"


@pytest.fixture(scope="module")
def two_accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    settings = ServerSettings(accounts=(FIRST, SECOND), regions=("us-west-2", "eu-west-1"))
    server = start(settings, log=tmp_path_factory.mktemp("two") / "server.log")
    yield EmbeddedAws(server)
    server.stop()


@pytest.mark.parametrize("account", [FIRST, SECOND])
def test_a_key_belongs_to_its_account(two_accounts: EmbeddedAws, account: str) -> None:
    sts = two_accounts.client("sts", account=account)

    assert sts.get_caller_identity()["Account"] == account


def test_a_key_of_an_account_outside_is_refused(two_accounts: EmbeddedAws) -> None:
    with pytest.raises(ClientError, match="Account 333333333333 is not part of"):
        two_accounts.client("sts", account="333333333333").get_caller_identity()


def test_accounts_do_not_see_each_others_things(two_accounts: EmbeddedAws) -> None:
    two_accounts.client("logs", account=FIRST).create_log_group(logGroupName="mine")

    groups = two_accounts.client("logs", account=SECOND).describe_log_groups()["logGroups"]

    assert "mine" not in [group["logGroupName"] for group in groups]


def test_a_role_of_the_other_account_acts_there(two_accounts: EmbeddedAws) -> None:
    role = two_accounts.client("iam", account=SECOND).create_role(
        RoleName="deploy", AssumeRolePolicyDocument='{"Version": "2012-10-17", "Statement": []}'
    )["Role"]["Arn"]
    credentials = two_accounts.client("sts", account=FIRST).assume_role(
        RoleArn=role, RoleSessionName="test"
    )["Credentials"]

    assumed = boto3.client(
        "sts",
        endpoint_url=two_accounts.endpoint,
        region_name="us-west-2",
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
    )

    assert assumed.get_caller_identity()["Account"] == SECOND


def test_every_enabled_region_answers(two_accounts: EmbeddedAws) -> None:
    vpcs = two_accounts.client("ec2", region="eu-west-1").describe_vpcs()

    assert vpcs["ResponseMetadata"]["HTTPStatusCode"] == 200


@pytest.mark.parametrize(
    ("service", "operation"),
    [
        pytest.param("ec2", "describe_vpcs", id="ec2-protocol"),
        pytest.param("cloudformation", "describe_stacks", id="query-protocol"),
        pytest.param("logs", "describe_log_groups", id="json-protocol"),
        pytest.param("batch", "describe_job_queues", id="rest-json-protocol"),
        pytest.param("s3", "list_buckets", id="s3"),
    ],
)
def test_a_region_that_is_not_enabled_is_refused_in_every_protocol(
    embedded_aws: EmbeddedAws, service: str, operation: str
) -> None:
    client = embedded_aws.client(service, region="eu-central-1")

    with pytest.raises(ClientError) as refused:
        getattr(client, operation)()

    error = refused.value.response["Error"]
    assert error["Code"] == "OptInRequired"
    assert "start it with --region eu-central-1" in error["Message"]


def test_global_services_answer_from_us_east_1(embedded_aws: EmbeddedAws) -> None:
    roles = embedded_aws.client("iam", region="us-east-1").list_roles()

    assert roles["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_a_role_of_an_account_outside_is_refused(embedded_aws: EmbeddedAws) -> None:
    credentials = embedded_aws.client("sts").assume_role(
        RoleArn="arn:aws:iam::999999999999:role/any", RoleSessionName="test"
    )["Credentials"]
    client = boto3.client(
        "ec2",
        endpoint_url=embedded_aws.endpoint,
        region_name="us-west-2",
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
    )

    with pytest.raises(ClientError, match="Account 999999999999 is not part of"):
        client.describe_vpcs()


def test_a_call_that_moto_has_not_is_refused_once(embedded_aws: EmbeddedAws) -> None:
    quotas = embedded_aws.client("service-quotas")

    with pytest.raises(ClientError, match="does not support this call") as refused:
        quotas.list_services()

    assert refused.value.response["ResponseMetadata"]["RetryAttempts"] == 0


@pytest.mark.parametrize(
    ("service", "operation"),
    [
        pytest.param("pcs", "list_clusters", id="service-in-json"),
        pytest.param("grafana", "list_workspaces", id="service-in-rest-json"),
        pytest.param("cloudsearch", "describe_domains", id="service-in-forms"),
        pytest.param("lambda", "list_capacity_providers", id="path"),
    ],
)
def test_a_call_that_moto_does_not_know_is_refused_in_its_protocol(
    embedded_aws: EmbeddedAws, service: str, operation: str
) -> None:
    with pytest.raises(ClientError, match="does not support this call") as refused:
        getattr(embedded_aws.client(service), operation)()

    assert refused.value.response["Error"]["Code"] == "UnsupportedOperation"


@pytest.mark.parametrize("path", ["/_embedded-aws/reset", "/moto-api/reset"])
def test_a_reset_leaves_the_seed_only(clean_aws: EmbeddedAws, path: str) -> None:
    seeded = clean_aws.client("iam").list_roles()["Roles"]
    clean_aws.client("logs").create_log_group(logGroupName="gone-soon")

    clean_aws.settings.controls.ask("POST", path, b"")

    assert clean_aws.client("logs").describe_log_groups()["logGroups"] == []
    assert clean_aws.client("iam").list_roles()["Roles"] == seeded != []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/_embedded-aws"),
        ("GET", "/_embedded-aws/"),
        ("GET", "/_embedded-aws/fault"),
        ("GET", "/_embedded-aws/reset"),
    ],
)
def test_an_unknown_control_is_not_found(embedded_aws: EmbeddedAws, method: str, path: str) -> None:
    with pytest.raises(HTTPError) as caught:
        embedded_aws.settings.controls.ask(method, path, b"")

    assert caught.value.code == 404
    assert caught.value.read().decode() == (
        f"there is no control {method} {path}; the controls are: GET /_embedded-aws/roles; "
        "GET /_embedded-aws/status; POST /_embedded-aws/capacity-blocks; "
        "POST /_embedded-aws/clock; POST /_embedded-aws/faults; "
        "POST /_embedded-aws/quotas; POST /_embedded-aws/reset; "
        "POST /_embedded-aws/spot-notices; POST /_embedded-aws/spot-prices; "
        "POST /_embedded-aws/storage\n"
    )


@pytest.mark.parametrize(
    ("day", "reason"),
    [("2999-01", "2999-01-01 is in the future"), ("June", "is not a month or a day")],
)
def test_a_reset_to_a_day_that_cannot_be_is_refused(
    embedded_aws: EmbeddedAws, day: str, reason: str
) -> None:
    body = json.dumps({"as_of": day}).encode()

    with pytest.raises(HTTPError) as caught:
        embedded_aws.settings.controls.ask("POST", RESET_PATH, body)

    assert caught.value.code == 400
    assert reason in caught.value.read().decode()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"2026-06", "this is not JSON: "),
        (b"[" * 100_000, "this is not JSON: "),
        (b"[]", "a reset takes nothing, or an object"),
        (b'"2026-06"', "a reset takes nothing, or an object"),
        (b'{"as-of": "2026-06"}', "a reset takes nothing, or an object"),
        (b'{"as_of": 202606}', "as_of is a text such as 2026-06 or null, got 202606"),
    ],
)
def test_a_reset_with_another_body_is_refused(
    embedded_aws: EmbeddedAws, body: bytes, reason: str
) -> None:
    with pytest.raises(HTTPError) as caught:
        embedded_aws.settings.controls.ask("POST", RESET_PATH, body)

    assert caught.value.code == 400
    assert reason in caught.value.read().decode()


def test_the_log_has_the_requests(embedded_aws: EmbeddedAws) -> None:
    embedded_aws.client("sqs").list_queues()

    assert "POST / HTTP/1.1" in Path(embedded_aws.log).read_text()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"90", "the clock takes an object with days or hours"),
        (b"{}", "the clock takes an object with days or hours"),
        (b'{"weeks": 1}', "the clock takes an object with days or hours"),
        (b'{"days": -1}', "days of the clock is a number from 0 to 36500, got -1"),
        (b'{"hours": "1"}', "hours of the clock is a number from 0 to 36500, got '1'"),
        (b'{"days": NaN}', "days of the clock is a number"),
    ],
)
def test_time_that_cannot_pass_is_refused(
    embedded_aws: EmbeddedAws, body: bytes, reason: str
) -> None:
    with pytest.raises(HTTPError) as caught:
        embedded_aws.settings.controls.ask("POST", CLOCK_PATH, body)

    assert caught.value.code == 400
    assert reason in caught.value.read().decode()

"""Whom an embedded AWS lets in: programs that have its secret; no web page, and nobody else."""

import json
import os
from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

import boto3
import psutil
import pytest
from botocore.auth import S3SigV4QueryAuth, SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from raw_calls import KEY, ask, signed
from skips import needs

from embedded_aws.controls import STATUS_PATH
from embedded_aws.ecr.login import authorization
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.lifecycle import Project
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
TEXT = {"Content-Type": "text/plain"}
JSON = {"Content-Type": "application/x-amz-json-1.1"}
ORIGIN = {"Origin": "https://attacker.example"}
STACK = urlencode(
    {
        "Action": "CreateStack",
        "Version": "2010-05-15",
        "StackName": "Attack",
        "TemplateBody": json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}),
    }
).encode()
FAULTS = b'[{"service": "*", "operation": "*"}]'
CONTROLS = [
    ("GET", STATUS_PATH, b""),
    ("POST", STATUS_PATH, b""),
    ("GET", f"{STATUS_PATH}/", b""),
    ("GET", "/_embedded-aws/roles", b""),
    ("POST", "/_embedded-aws/capacity-blocks", b"[]"),
    ("POST", "/_embedded-aws/clock", b"{}"),
    ("POST", "/_embedded-aws/faults", FAULTS),
    ("POST", "/_embedded-aws/quotas", b"[]"),
    ("POST", "/_embedded-aws/reset", b""),
    ("POST", "/_embedded-aws/spot-notices", b"[]"),
    ("POST", "/_embedded-aws/spot-prices", b"[]"),
    ("POST", "/_embedded-aws/storage", b"[]"),
    ("POST", "/moto-api/reset", b""),
    ("GET", "/moto-api/data.json", b""),
]


def client(aws: EmbeddedAws, service: str, key: str, secret: str, **more: Any) -> Any:
    return boto3.client(
        service,
        endpoint_url=aws.endpoint,
        region_name="us-west-2",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        **more,
    )


@pytest.fixture
def kept(embedded_aws: EmbeddedAws) -> Iterator[EmbeddedAws]:
    """An embedded AWS with something that a reset would remove; afterwards it must be there."""
    logs = embedded_aws.client("logs")
    logs.create_log_group(logGroupName="kept")
    yield embedded_aws
    assert logs.describe_log_groups(logGroupNamePrefix="kept")["logGroups"]
    logs.delete_log_group(logGroupName="kept")
    assert not embedded_aws.client("cloudformation").describe_stacks()["Stacks"]


@pytest.fixture
def bucket(embedded_aws: EmbeddedAws) -> Iterator[Any]:
    """A bucket with an object."""
    found = boto3.resource(
        "s3",
        endpoint_url=embedded_aws.endpoint,
        region_name="us-west-2",
        aws_access_key_id=KEY,
        aws_secret_access_key=embedded_aws.settings.secret_key,
    ).Bucket("admission")
    found.create(CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    found.put_object(Key="a b/ü+(1)~", Body=b"content")
    yield found
    found.objects.delete()
    found.delete()


# What a page of attacker.example can have a browser send, and what it sends along by itself.
@pytest.mark.parametrize("path", ["/", "/_embedded-aws/reset", "/moto-api/reset"])
@pytest.mark.parametrize(
    ("method", "headers"),
    [
        pytest.param(
            "OPTIONS",
            {
                **ORIGIN,
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization,x-amz-target",
            },
            id="preflight",
        ),
        pytest.param("POST", ORIGIN | TEXT | {"Sec-Fetch-Site": "cross-site"}, id="simple-post"),
        pytest.param("POST", ORIGIN | FORM, id="form-post-of-an-old-browser"),
        pytest.param("POST", {"Origin": "null", **FORM}, id="form-post-of-a-sandboxed-frame"),
        pytest.param("POST", {"Origin": "http://localhost:3000", **FORM}, id="another-port"),
        pytest.param("GET", {"Sec-Fetch-Site": "cross-site"}, id="image"),
        pytest.param("GET", {"Sec-Fetch-Site": "same-site"}, id="image-of-another-port"),
        pytest.param("POST", {"Host": "attacker.example", **FORM}, id="rebound-name"),
        pytest.param("POST", {"Host": "attacker.example:4566", **FORM}, id="rebound-with-a-port"),
        pytest.param("POST", {"Host": "localhost.attacker.example", **FORM}, id="alike"),
        pytest.param("POST", {"Host": "0.0.0.0", **FORM}, id="any-address"),
    ],
)
def test_a_web_page_gets_no_answer_even_if_the_request_is_signed(
    kept: EmbeddedAws, method: str, path: str, headers: dict[str, str]
) -> None:
    body = b"" if method in ("GET", "OPTIONS") else STACK
    signature = signed(kept, method, path, body, "cloudformation")

    for more in ({}, signature):
        status, text, answered = ask(kept, method, path, body, {**more, **headers})

        assert status == 403
        assert "the embedded AWS answers " in text
        assert not [name for name in answered if name.lower().startswith("access-control")]


def test_no_answer_lets_a_page_read_it(kept: EmbeddedAws) -> None:
    body = b"Action=DescribeStacks&Version=2010-05-15"
    signature = signed(kept, "POST", "/", body, "cloudformation")

    status, _, answered = ask(kept, "POST", "/", body, signature | FORM)

    assert status == 200
    assert not [name for name in answered if name.lower().startswith("access-control")]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "admission.localhost"])
def test_the_names_of_loopback_are_answered(kept: EmbeddedAws, host: str) -> None:
    url = f"http://{host}:{kept.settings.port}/"
    body = b"Action=DescribeStacks&Version=2010-05-15"
    request = AWSRequest("POST", url, data=body, headers=FORM)
    credentials = Credentials(KEY, kept.settings.secret_key)
    SigV4Auth(credentials, "cloudformation", "us-west-2").add_auth(request)
    headers = {**dict(request.headers), "Host": urlsplit(url).netloc}

    assert ask(kept, "POST", "/", body, headers)[0] == 200


# Another user of this machine knows the port; he is no browser, and sends what he likes.
@pytest.mark.parametrize(
    ("method", "path", "body", "signature"),
    [
        (*control, signature)
        for control in CONTROLS
        for signature in ("none", "made-up", "key-of-the-account", "role")
        # A role may ask for the status: see the next test.
        if (*control[:2], signature) != ("GET", STATUS_PATH, "role")
    ],
)
def test_nobody_else_reaches_the_controls(
    kept: EmbeddedAws, method: str, path: str, body: bytes, signature: str
) -> None:
    headers: dict[str, str] = {}
    if signature != "none":
        credentials = {
            "made-up": Credentials("AKIAIOSFODNN7EXAMPLE", "any"),
            "key-of-the-account": Credentials(KEY, "offline"),
            "role": _role(kept),
        }[signature]
        headers = _signed_by(credentials, kept, method, path, body)

    status, text, _ = ask(kept, method, path, body, headers)

    assert status in (401, 403)
    assert "`env`" in text
    assert kept.client("ec2").describe_vpcs()["ResponseMetadata"]["RetryAttempts"] == 0


def test_a_role_may_ask_for_the_status(kept: EmbeddedAws) -> None:
    # By it the commands that act by a role make sure that an embedded AWS answers.
    headers = _signed_by(_role(kept), kept, "GET", STATUS_PATH, b"")

    status, text, _ = ask(kept, "GET", STATUS_PATH, b"", headers)

    assert status == 200
    assert sorted(json.loads(text)) == ["accounts", "as_of", "regions"]


def _signed_by(
    credentials: Credentials, aws: EmbeddedAws, method: str, path: str, body: bytes
) -> dict[str, str]:
    request = AWSRequest(method, aws.endpoint + path, data=body)
    SigV4Auth(credentials, "embedded-aws", "us-west-2").add_auth(request)
    return dict(request.headers)


def _role(aws: EmbeddedAws) -> Credentials:
    iam = aws.client("iam")
    try:
        arn = iam.get_role(RoleName="admitted")["Role"]["Arn"]
    except iam.exceptions.NoSuchEntityException:
        arn = iam.create_role(RoleName="admitted", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    given = aws.client("sts").assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
    return _credentials(given)


def _credentials(given: Mapping[str, Any]) -> Credentials:
    return Credentials(given["AccessKeyId"], given["SecretAccessKey"], given.get("SessionToken"))


# "Common errors" of the API references: by protocol, for a key and for a signature.
@pytest.mark.parametrize(
    ("service", "operation", "unknown", "wrong", "status"),
    [
        ("ec2", "describe_vpcs", "AuthFailure", "AuthFailure", 401),
        ("iam", "list_roles", "InvalidClientTokenId", "SignatureDoesNotMatch", 403),
        ("logs", "describe_log_groups", "UnrecognizedClientException", "InvalidSign", 400),
        ("batch", "describe_job_queues", "UnrecognizedClientException", "InvalidSign", 403),
        ("s3", "list_buckets", "InvalidAccessKeyId", "SignatureDoesNotMatch", 403),
    ],
)
def test_a_call_needs_the_secret_of_its_key(
    embedded_aws: EmbeddedAws, service: str, operation: str, unknown: str, wrong: str, status: int
) -> None:
    for key, code in {"AKIAIOSFODNN7EXAMPLE": unknown, KEY: wrong}.items():
        with pytest.raises(ClientError) as refused:
            getattr(client(embedded_aws, service, key, "offline"), operation)()

        response = refused.value.response
        assert response["Error"]["Code"].startswith(code)
        assert "takes the credentials that its command `env` prints" in response["Error"]["Message"]
        assert response["ResponseMetadata"]["HTTPStatusCode"] == status
        assert response["ResponseMetadata"]["RetryAttempts"] == 0


# AWS re:Post, "InvalidClientTokenId"; S3 without the token: aws-sdk issues such as soto 121 and
# databend 8069; S3 with another: S3's list of error codes.
@pytest.mark.parametrize(
    ("service", "operation", "missing", "other"),
    [
        ("ec2", "describe_vpcs", "AuthFailure", "AuthFailure"),
        ("iam", "list_roles", "InvalidClientTokenId", "InvalidClientTokenId"),
        ("logs", "describe_log_groups", "UnrecognizedClientException", "UnrecognizedClient"),
        ("batch", "describe_job_queues", "UnrecognizedClientException", "UnrecognizedClient"),
        ("s3", "list_buckets", "InvalidAccessKeyId", "InvalidToken"),
    ],
)
def test_temporary_credentials_need_their_session_token(
    embedded_aws: EmbeddedAws, service: str, operation: str, missing: str, other: str
) -> None:
    sts = embedded_aws.client("sts")
    another = sts.get_session_token()["Credentials"]["SessionToken"]
    credentials = [
        _role(embedded_aws),
        _credentials(sts.get_session_token()["Credentials"]),
        _credentials(sts.get_federation_token(Name="somebody")["Credentials"]),
    ]

    for each in credentials:
        for token, code in ((None, missing), (another, other)):
            key, secret = each.access_key, each.secret_key
            own = client(embedded_aws, service, key, secret, aws_session_token=token)
            with pytest.raises(ClientError) as refused:
                getattr(own, operation)()

            error = refused.value.response["Error"]
            assert error["Code"].startswith(code)
            assert "temporary credentials go with their session token" in error["Message"]


def test_a_key_that_lasts_has_no_session_token(embedded_aws: EmbeddedAws) -> None:
    # Documented: a session token that is left in the environment makes a user's own key invalid.
    secret = embedded_aws.settings.secret_key
    own = client(embedded_aws, "sts", KEY, secret, aws_session_token="left")

    with pytest.raises(ClientError, match="InvalidClientTokenId"):
        own.get_caller_identity()


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "code"),
    [
        ("POST", "/", STACK, FORM, "<Code>MissingAuthenticationToken<"),
        ("POST", "/", STACK, TEXT, "<Code>AccessDenied<"),
        (
            "POST",
            "/",
            b"{}",
            {
                "X-Amz-Target": "Logs_20140328.DescribeLogGroups",
                "Content-Type": "application/x-amz-json-1.1",
            },
            '"MissingAuthenticationTokenException"',
        ),
        (
            "POST",
            "/v1/describejobqueues",
            b"{}",
            {"Content-Type": "application/json"},
            '"MissingAuthenticationTokenException"',
        ),
        ("PUT", "/kept", b"", {}, "<Code>AccessDenied<"),
        ("GET", "/latest/meta-data/iam/security-credentials/", b"", {}, "<Code>AccessDenied<"),
        # Without the ECR that takes pushes, these are objects of S3.
        ("GET", "/v2/train/manifests/v1", b"", {"Authorization": "Basic eA=="}, "AccessDenied"),
        ("GET", "/_embedded-aws/role-credentials/any", b"", {}, "no process has this token"),
    ],
)
def test_what_is_not_signed_is_refused(
    kept: EmbeddedAws,
    method: str,
    path: str,
    body: bytes,
    headers: dict[str, str],
    code: str,
) -> None:
    status, text, _ = ask(kept, method, path, body, headers)

    assert status in (400, 403)
    assert code in text


def test_a_signature_is_of_its_request_only(kept: EmbeddedAws) -> None:
    body = b"Action=DescribeStacks&Version=2010-05-15"
    signature = signed(kept, "POST", "/", body, "cloudformation") | FORM

    for method, path, sent in (
        ("POST", "/", STACK),
        ("POST", "/?Action=CreateStack", body),
        ("POST", "/_embedded-aws/reset", body),
        ("PUT", "/", body),
    ):
        status, text, _ = ask(kept, method, path, sent, signature)

        assert status == 403
        assert "does not match the secret" in text
    other = {**signature, "Authorization": signature["Authorization"].replace("/clo", "/s3clo")}
    assert ask(kept, "POST", "/", body, other)[0] == 403


def test_the_content_of_an_object_is_what_was_signed(
    embedded_aws: EmbeddedAws, bucket: Any
) -> None:
    request = AWSRequest("PUT", f"{embedded_aws.endpoint}/{bucket.name}/new", data=b"signed")
    request.headers["X-Amz-Content-SHA256"] = sha256(b"other").hexdigest()
    credentials = Credentials(KEY, embedded_aws.settings.secret_key)
    SigV4Auth(credentials, "s3", "us-west-2").add_auth(request)

    status, _, _ = ask(embedded_aws, "PUT", f"/{bucket.name}/new", b"signed", dict(request.headers))

    assert status == 403


@pytest.mark.parametrize("version", ["s3", "s3v4"])
def test_a_presigned_url_of_s3_is_for_its_object_only(
    embedded_aws: EmbeddedAws, bucket: Any, version: str
) -> None:
    s3 = client(
        embedded_aws,
        "s3",
        KEY,
        embedded_aws.settings.secret_key,
        config=Config(signature_version=version),
    )
    [found] = bucket.objects.all()
    where = {"Bucket": bucket.name, "Key": found.key}
    url = urlsplit(s3.generate_presigned_url("get_object", Params=where))
    new = urlsplit(s3.generate_presigned_url("put_object", Params={**where, "Key": "new"}))

    put = ask(embedded_aws, "PUT", f"{new.path}?{new.query}", b"uploaded", {"Content-Type": ""})
    got = ask(embedded_aws, "GET", f"{url.path}?{url.query}")
    of_another = ask(embedded_aws, "GET", f"{new.path}?{url.query}")
    deleted = ask(embedded_aws, "DELETE", f"{url.path}?{url.query}")

    assert (put[0], got[:2]) == (200, (200, "content"))
    assert (of_another[0], deleted[0]) == (403, 403)
    assert "<Code>SignatureDoesNotMatch</Code>" in of_another[1]


@pytest.mark.parametrize("version", ["s3", "s3v4"])
def test_a_presigned_url_expires(embedded_aws: EmbeddedAws, bucket: Any, version: str) -> None:
    s3 = client(
        embedded_aws,
        "s3",
        KEY,
        embedded_aws.settings.secret_key,
        config=Config(signature_version=version),
    )
    url = urlsplit(s3.generate_presigned_url("list_objects", {"Bucket": bucket.name}, -60))

    status, text, _ = ask(embedded_aws, "GET", f"{url.path}?{url.query}")

    assert (status, "Request has expired" in text) == (403, True)


def test_a_presigned_url_takes_no_header_of_aws_that_is_not_signed(
    embedded_aws: EmbeddedAws, bucket: Any
) -> None:
    # Whoever got it could have another object copied to where it leads.
    request = AWSRequest("PUT", f"{embedded_aws.endpoint}/{bucket.name}/new")
    credentials = Credentials(KEY, embedded_aws.settings.secret_key)
    S3SigV4QueryAuth(credentials, "s3", "us-west-2").add_auth(request)
    url = urlsplit(request.url)
    copy = {"x-amz-copy-source": f"/{bucket.name}/a%20b/%C3%BC%2B%281%29~"}

    status, text, _ = ask(embedded_aws, "PUT", f"{url.path}?{url.query}", headers=copy)

    assert (status, "<Code>AccessDenied</Code>" in text) == (403, True)
    assert "headers present in the request which were not signed: x-amz-copy-source" in text
    assert [each.key for each in bucket.objects.all()] == ["a b/ü+(1)~"]


@pytest.mark.parametrize("service", ["ec2", "sts"])
def test_a_presigned_url_of_another_service_is_none_of_s3(
    embedded_aws: EmbeddedAws, bucket: Any, service: str
) -> None:
    # moto would take it for S3, whatever the role may do there.
    url = presigned(embedded_aws, f"/{bucket.name}", service=service)

    status, text, _ = ask(embedded_aws, "GET", f"{url.path}?{url.query}")

    assert status >= 400
    assert "ListBucketResult" not in text


def test_a_presigned_url_of_sts_tells_who_the_caller_is(embedded_aws: EmbeddedAws) -> None:
    query = "/?Action=GetCallerIdentity&Version=2011-06-15"
    url = presigned(embedded_aws, query, service="sts")

    status, text, _ = ask(embedded_aws, "GET", f"{url.path}?{url.query}")

    assert (status, "<Arn>arn:aws:iam::123456789012:root</Arn>" in text) == (200, True)


def test_a_presigned_url_of_sts_may_be_15_minutes_old(
    embedded_aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = []
    for minutes in (14, 16):
        made = datetime.now(UTC) - timedelta(minutes=minutes)
        monkeypatch.setattr("botocore.auth.get_current_datetime", lambda made=made: made)
        query = "/?Action=GetCallerIdentity&Version=2011-06-15"
        url = presigned(embedded_aws, query, service="sts")
        answers.append(ask(embedded_aws, "GET", f"{url.path}?{url.query}")[0])

    assert answers == [200, 403]


def presigned(aws: EmbeddedAws, path: str, *, service: str) -> SplitResult:
    """A URL that the owner of the embedded AWS has signed for a service."""
    request = AWSRequest("GET", f"{aws.endpoint}{path}")
    credentials = Credentials(KEY, aws.settings.secret_key)
    SigV4QueryAuth(credentials, service, "us-west-2", expires=60).add_auth(request)
    return urlsplit(str(request.url))


@pytest.mark.parametrize("version", ["s3", "s3v4"])
def test_a_presigned_url_of_a_role_may_what_the_role_may(
    embedded_aws: EmbeddedAws, bucket: Any, version: str
) -> None:
    role = _role(embedded_aws)
    s3 = client(
        embedded_aws,
        "s3",
        role.access_key,
        role.secret_key,
        aws_session_token=role.token,
        config=Config(signature_version=version),
    )
    where = {"Bucket": bucket.name, "Key": "any"}
    url = urlsplit(s3.generate_presigned_url("get_object", where))
    without = "&".join(each for each in url.query.split("&") if "ecurity-" not in each)

    status, text, _ = ask(embedded_aws, "GET", f"{url.path}?{url.query}")
    refused = ask(embedded_aws, "GET", f"{url.path}?{without}")

    assert (status, "no identity-based policy allows the s3:GetObject" in text) == (403, True)
    assert (refused[0], "<Code>InvalidAccessKeyId</Code>" in refused[1]) == (403, True)


def test_the_credentials_that_it_issues_are_taken(embedded_aws: EmbeddedAws) -> None:
    iam, sts = embedded_aws.client("iam"), embedded_aws.client("sts")
    iam.create_user(UserName="somebody")
    user = iam.create_access_key(UserName="somebody")["AccessKey"]
    issued = [
        user,
        sts.get_session_token()["Credentials"],
        sts.get_federation_token(Name="somebody")["Credentials"],
    ]

    for each in map(_credentials, issued):
        own = client(
            embedded_aws, "sts", each.access_key, each.secret_key, aws_session_token=each.token
        )
        assert own.get_caller_identity()["Account"] == "123456789012"

    iam.update_access_key(UserName="somebody", AccessKeyId=user["AccessKeyId"], Status="Inactive")
    with pytest.raises(ClientError, match="InvalidClientTokenId"):
        client(
            embedded_aws, "sts", user["AccessKeyId"], user["SecretAccessKey"]
        ).get_caller_identity()


@pytest.fixture(scope="module")
def pushing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """An embedded AWS whose ECR takes pushes; its registry is not there."""
    log = tmp_path_factory.mktemp("pushing") / "server.log"
    server = start(ServerSettings(registry="127.0.0.1:1"), log=log)
    yield EmbeddedAws(server)
    server.stop()


def test_a_login_to_the_registry_comes_from_the_api(pushing: EmbeddedAws) -> None:
    [data] = pushing.client("ecr").get_authorization_token()["authorizationData"]
    soon, secret = datetime.now(UTC) + timedelta(hours=1), pushing.settings.secret_key
    place = ("123456789012", "us-west-2")
    forged = authorization(*place, expires=soon, secret="offline")
    old = authorization(*place, expires=soon - timedelta(hours=2), secret=secret)
    guessed = b64encode(b"AWS:123456789012.us-west-2").decode()

    answers = {
        token: ask(pushing, "GET", "/v2/", headers={"Authorization": f"Basic {token}"})[0]
        for token in (data["authorizationToken"], forged, old, guessed)
    }

    assert list(answers.values()) == [200, 401, 401, 401]
    assert ask(pushing, "GET", "/v2/", headers=ORIGIN)[0] == 403


def test_the_secret_is_in_no_process_list_and_no_log(pushing: EmbeddedAws) -> None:
    process, secret = pushing.server.process, pushing.settings.secret_key
    for path in ("/_embedded-aws/status", f"/?key={secret[:3]}"):
        ask(pushing, "GET", path)
    pushing.roles()

    listed = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]

    assert not [each for each in listed if secret in " ".join(each.cmdline())]
    assert "/_embedded-aws/roles" in pushing.log.read_text()
    assert secret not in pushing.log.read_text()
    assert secret not in repr(pushing)
    assert pushing.log.stat().st_mode & 0o777 == 0o600


def test_two_servers_do_not_take_each_others_credentials(
    embedded_aws: EmbeddedAws, pushing: EmbeddedAws
) -> None:
    other = client(embedded_aws, "sts", KEY, pushing.settings.secret_key)

    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        other.get_caller_identity()


def test_what_is_in_a_directory_is_for_its_owner_only(project: Project) -> None:
    # The directory may have been there before, with other rights.
    state = project.directory / ".embedded-aws"
    state.mkdir(mode=0o777)
    state.chmod(0o777)

    running, _ = project.up(ServerSettings())

    modes = {file.name: file.stat().st_mode & 0o777 for file in state.iterdir()}
    holding = [f.name for f in state.iterdir() if running.settings.secret_key in f.read_text()]
    assert state.stat().st_mode & 0o777 == 0o700
    assert sorted(holding) == ["secret-key", "server.json"]
    assert {modes[name] for name in [*holding, "server.log"]} == {0o600}


def test_the_printed_environment_holds_after_a_restart_on_the_same_port(project: Project) -> None:
    first, _ = project.up(ServerSettings())
    before = project.environment(first)
    project.down()

    again, _ = project.up(ServerSettings(port=first.settings.port))

    assert project.environment(again) == before


@needs(root="a directory gets another owner")
def test_the_state_of_another_user_is_not_used(tmp_path: Path) -> None:
    state = tmp_path / ".embedded-aws"
    state.mkdir()
    (state / "secret-key").write_text("known")
    os.chown(state, 1, 1)

    with pytest.raises(EmbeddedAwsError, match="belongs to another user"):
        Project(tmp_path).up(ServerSettings())


def test_the_state_is_not_written_through_a_link_to_a_folder(tmp_path: Path) -> None:
    # As a repository from elsewhere may have it, which belongs to who cloned it.
    elsewhere, project = tmp_path / "elsewhere", tmp_path / "project"
    elsewhere.mkdir(mode=0o755)
    project.mkdir()
    (project / ".embedded-aws").symlink_to(elsewhere)

    with pytest.raises(EmbeddedAwsError, match=r"\.embedded-aws is a link; remove it"):
        Project(project).up(ServerSettings())

    assert elsewhere.stat().st_mode & 0o777 == 0o755
    assert not [*elsewhere.iterdir()]


@pytest.mark.parametrize(
    "name", [".gitignore", "lock", "secret-key.new", "server.log", "server.new"]
)
def test_no_file_of_the_state_is_written_through_a_link(project: Project, name: str) -> None:
    kept = project.directory / "kept"
    kept.write_text("mine")
    state = project.directory / ".embedded-aws"
    state.mkdir()
    (state / name).symlink_to(kept)
    before = {*psutil.Process().children()}

    with pytest.raises(EmbeddedAwsError, match=f"{name} is a link; remove it"):
        project.up(ServerSettings())

    assert kept.read_text() == "mine"
    # An earlier test's may end meanwhile.
    assert {*psutil.Process().children()} <= before
    (state / name).unlink()

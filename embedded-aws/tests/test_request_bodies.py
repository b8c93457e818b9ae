"""Bodies that no service can read are refused at once, with an error that SDKs do not repeat."""

import gzip
import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from raw_calls import KEY, ask, signed

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def _target(name: str) -> dict[str, str]:
    return {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": name}


# Smithy, "AWS JSON protocols"; Lambda API reference.
_CALLS = [
    ("logs", "/", _target("Logs_20140328.DescribeLogGroups"), "SerializationException"),
    ("ssm", "/", _target("AmazonSSM.DescribeInstanceInformation"), "SerializationException"),
    ("batch", "/v1/describejobqueues", JSON, "SerializationException"),
    ("eks", "/clusters", JSON, "SerializationException"),
    ("lambda", "/2015-03-31/functions", JSON, "InvalidRequestContentException"),
]
_BODIES = [b"{", b"[]", b"null", b'"text"', b"[" * 100_000, b'{"a":' * 100_000, b"\xff"]


@pytest.fixture(params=[False, True], ids=["", "with-faults"])
def aws(request: pytest.FixtureRequest, embedded_aws: EmbeddedAws) -> Any:
    if request.param:
        embedded_aws.fail(Fault(service="ec2", operation="DescribeVpcs", count=None))
    yield embedded_aws
    embedded_aws.fail()


@pytest.mark.parametrize(("service", "path", "headers", "code"), _CALLS)
@pytest.mark.parametrize("body", _BODIES, ids=lambda body: repr(body[:8]))
def test_what_is_no_json_object_is_refused(
    aws: EmbeddedAws, service: str, path: str, headers: dict[str, str], code: str, body: bytes
) -> None:
    signature = signed(aws, "POST", path, body, service)

    status, text, _ = ask(aws, "POST", path, body, signature | headers)

    assert (status, json.loads(text)["__type"]) == (400, code)


@pytest.mark.parametrize("body", [b"", b"{}"])
def test_no_body_and_an_empty_object_are_read(aws: EmbeddedAws, body: bytes) -> None:
    headers = signed(aws, "POST", "/", body, "logs") | _target("Logs_20140328.DescribeLogGroups")

    assert ask(aws, "POST", "/", body, headers)[0] == 200


@pytest.fixture(scope="module")
def function(embedded_aws: EmbeddedAws) -> Iterator[str]:
    """A function that answers with its event."""
    role = embedded_aws.client("iam").create_role(RoleName="bodies", AssumeRolePolicyDocument="{}")[
        "Role"
    ]["Arn"]
    code = "import json\ndef handler(event, _): return event\n"
    resource = {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "FunctionName": "bodies",
            "Runtime": "python3.12",
            "Handler": "index.handler",
            "Role": role,
            "Code": {"ZipFile": code},
        },
    }
    embedded_aws.deploy({"Resources": {"Function": resource}}, stack_name="Bodies")
    yield "/2015-03-31/functions/bodies/invocations"
    # Others of the session may count the stacks.
    embedded_aws.client("cloudformation").delete_stack(StackName="Bodies")


@pytest.mark.parametrize("body", [b"[1, 2]", b"null", b'"text"'])
def test_an_event_is_any_json(embedded_aws: EmbeddedAws, function: str, body: bytes) -> None:
    headers = signed(embedded_aws, "POST", function, body, "lambda") | JSON

    assert ask(embedded_aws, "POST", function, body, headers)[:2] == (200, body.decode())


@pytest.mark.parametrize("headers", [JSON, {"Content-Type": "application/octet-stream"}])
@pytest.mark.parametrize("body", [b"{", b"[" * 100_000, b"\xff"], ids=lambda body: repr(body[:8]))
def test_an_event_that_is_no_json_is_refused(
    embedded_aws: EmbeddedAws, function: str, body: bytes, headers: dict[str, str]
) -> None:
    signature = signed(embedded_aws, "POST", function, body, "lambda")

    status, text, answered = ask(embedded_aws, "POST", function, body, signature | headers)

    assert (status, answered["x-amzn-errortype"]) == (400, "InvalidRequestContentException")
    assert "Could not parse request body into" in text


@pytest.mark.parametrize(
    ("service", "length", "status", "code"),
    [
        ("logs", 70_167_212, 413, "RequestEntityTooLargeException"),
        ("s3", (5 << 30) + 1, 400, "EntityTooLarge"),
    ],
)
def test_a_body_that_is_too_long_is_not_read(
    embedded_aws: EmbeddedAws, service: str, length: int, status: int, code: str
) -> None:
    headers = signed(embedded_aws, "PUT", "/bodies/key", b"", service)
    connection = http.client.HTTPConnection("localhost", embedded_aws.settings.port)
    headers |= {"Content-Length": str(length), "Host": f"localhost:{embedded_aws.settings.port}"}

    # The body itself is never sent.
    connection.request("PUT", "/bodies/key", headers=headers)

    answer = connection.getresponse()
    assert (answer.status, code in answer.read().decode()) == (status, True)
    connection.close()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (gzip.compress(bytes(70_167_212), 1), 413, "RequestEntityTooLargeException"),
        (b"{}", 400, "SerializationException"),
        (gzip.compress(b"{"), 400, "SerializationException"),
        (gzip.compress(b"{}")[:-1], 400, "SerializationException"),
        (gzip.compress(b"{}"), 200, "logGroups"),
    ],
    ids=["bomb", "not-compressed", "compressed-nonsense", "cut-off", "compressed"],
)
def test_a_compressed_body_is_limited_too(
    embedded_aws: EmbeddedAws, body: bytes, status: int, code: str
) -> None:
    headers = signed(embedded_aws, "POST", "/", body, "logs") | _target(
        "Logs_20140328.DescribeLogGroups"
    )

    answered, text, _ = ask(
        embedded_aws, "POST", "/", body, {**headers, "Content-Encoding": "gzip"}
    )

    assert (answered, code in text) == (status, True), text


_BOMB = "A0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"A{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


# CloudFormation user guide, "CloudFormation template format": no aliases.
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f"Metadata:\n  {_BOMB.replace(chr(10), chr(10) + '  ')}\nResources: {{}}\n",
            "Template error: YAML aliases are not allowed in CloudFormation templates",
        ),
        (
            "Metadata: &all {Loop: *all}\nResources: {}\n",
            "Template error: YAML aliases are not allowed in CloudFormation templates",
        ),
        ("A: " + "[" * 20_000, "Template format error: YAML not well-formed"),
        ('{"A": ' + "[" * 20_000, "Template format error: JSON not well-formed"),
    ],
    ids=["bomb", "loop", "deep-yaml", "deep-json"],
)
def test_a_template_that_would_take_all_memory_is_refused(
    embedded_aws: EmbeddedAws, body: str, message: str
) -> None:
    cloudformation = embedded_aws.client("cloudformation")

    for operation, named in (("validate_template", {}), ("create_stack", {"StackName": "Bomb"})):
        with pytest.raises(ClientError) as refused:
            getattr(cloudformation, operation)(TemplateBody=body, **named)

        assert refused.value.response["Error"]["Code"] == "ValidationError"
        assert message in refused.value.response["Error"]["Message"]


def test_an_anchor_without_an_alias_is_read(embedded_aws: EmbeddedAws) -> None:
    body = "Resources:\n  Topic: &topic\n    Type: AWS::SNS::Topic\n"

    embedded_aws.client("cloudformation").validate_template(TemplateBody=body)


@pytest.mark.parametrize("text", [_BOMB, "a: " + "[" * 20_000], ids=["bomb", "deep"])
def test_a_document_that_would_take_all_memory_is_refused(
    embedded_aws: EmbeddedAws, text: str
) -> None:
    with pytest.raises(ClientError, match="YAML not well-formed") as refused:
        embedded_aws.client("ssm").create_document(
            Name="bomb",
            DocumentType="Command",
            DocumentFormat="YAML",
            Content=f"schemaVersion: '2.2'\n{text}",
        )

    assert refused.value.response["Error"]["Code"] == "InvalidDocumentContent"


def _head(aws: EmbeddedAws, *headers: str) -> bytes:
    """The head of a request to S3 whose signature nobody with the secret has made."""
    signature = f"Credential={KEY}/20260101/us-west-2/s3/aws4_request, SignedHeaders=host"
    lines = [
        "PUT /bucket/new HTTP/1.1",
        f"Host: localhost:{aws.settings.port}",
        "X-Amz-Date: 20260101T000000Z",
        f"Authorization: AWS4-HMAC-SHA256 {signature};x-amz-date, Signature=made-up",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_long_body_of_nobody_who_is_known_is_not_read(embedded_aws: EmbeddedAws) -> None:
    with socket.create_connection(("127.0.0.1", embedded_aws.settings.port), timeout=30) as caller:
        nothing = "X-Amz-Content-SHA256: UNSIGNED-PAYLOAD"
        caller.sendall(_head(embedded_aws, nothing, f"Content-Length: {4 << 30}"))

        # Not one byte of the body has been sent.
        assert caller.recv(12) == b"HTTP/1.1 403"


@pytest.mark.parametrize(
    ("header", "body"),
    [("Content-Length: 9", b"short"), ("Transfer-Encoding: chunked", b"no size")],
)
def test_a_body_that_breaks_off_is_refused(
    embedded_aws: EmbeddedAws, header: str, body: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", embedded_aws.settings.port), timeout=30) as caller:
        caller.sendall(_head(embedded_aws, header) + body)
        caller.shutdown(socket.SHUT_WR)

        answer = caller.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 400")
    assert b"<Code>IncompleteBody</Code>" in answer

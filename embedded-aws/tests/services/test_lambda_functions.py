"""Lambda functions run for real, in processes."""

import base64
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

import embedded_aws

# What CloudFormation adds to the code of such functions.
RESPONSE_MODULE = Path(embedded_aws.__file__).parent.joinpath(
    "lambda_", "response_module", "cfnresponse.py"
)
PYTHON = """
import os, time, boto3

def handler(event, context):
    print("seen", event["do"])
    if event["do"] == "raise":
        raise ValueError("no such node")
    if event["do"] == "sleep":
        time.sleep(30)
    return {
        "identity": boto3.client("sts").get_caller_identity()["Arn"],
        "name": context.function_name,
        "left": context.get_remaining_time_in_millis() > 0,
        "colour": os.environ["COLOUR"],
    }
"""
NODE = """
export const handler = async (event, context) => {
  console.log("seen", event.do);
  if (event.do === "raise") throw new RangeError("no such node");
  if (event.do === "sleep") await new Promise((done) => setTimeout(done, 30000));
  return { name: context.functionName, colour: process.env.COLOUR };
};
"""
CALLBACK = (
    'exports.handler = (event, context, done) => done(null, require("cfn-response").SUCCESS);'
)
RESOURCE = """
import cfnresponse

def handler(event, context):
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {"Zone": "usw2-az4"}, "made-it")
"""


def package(**files: str) -> bytes:
    """Return a ZIP file; double underscores in the names stand for dots."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "."), text)
    return buffer.getvalue()


@pytest.fixture(autouse=True)
def calls_of_functions_lead_here(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)


@pytest.fixture
def functions(client: Callable[..., Any]) -> Any:
    return client("lambda")


@pytest.fixture
def make(functions: Any, name: str, role: str) -> Callable[..., str]:
    def create(runtime: str, code: dict[str, Any], **more: Any) -> str:
        functions.create_function(
            FunctionName=name,
            Runtime=runtime,
            Role=role,
            Handler="index.handler",
            Code=code,
            Environment={"Variables": {"COLOUR": "blue"}},
            **more,
        )
        return name

    return create


@pytest.fixture
def invoke(functions: Any) -> Callable[..., tuple[str | None, Any]]:
    def call(name: str, event: Any, **more: Any) -> tuple[str | None, Any]:
        answer = functions.invoke(FunctionName=name, Payload=json.dumps(event), **more)
        return answer.get("FunctionError"), json.loads(answer["Payload"].read())

    return call


def test_a_python_function_runs_under_its_role(
    make: Callable[..., str], invoke: Callable[..., Any]
) -> None:
    name = make("python3.13", {"ZipFile": package(index__py=PYTHON)}, Timeout=30)

    error, result = invoke(name, {"do": "work"})

    assert error is None
    assert result == {
        "identity": f"arn:aws:sts::123456789012:assumed-role/runner/{name}",
        "name": name,
        "left": True,
        "colour": "blue",
    }


def test_code_comes_from_s3(
    client: Callable[..., Any], make: Callable[..., str], invoke: Callable[..., Any], name: str
) -> None:
    s3 = client("s3")
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_object(Bucket=name, Key="code.zip", Body=package(index__mjs=NODE))

    make("nodejs22.x", {"S3Bucket": name, "S3Key": "code.zip"}, Timeout=30)

    assert invoke(name, {"do": "work"}) == (None, {"name": name, "colour": "blue"})


def test_node_functions_may_use_callbacks_and_cfn_response(
    make: Callable[..., str], invoke: Callable[..., Any]
) -> None:
    name = make("nodejs20.x", {"ZipFile": package(index__js=CALLBACK)}, Timeout=30)

    assert invoke(name, {}) == (None, "SUCCESS")


@pytest.mark.parametrize(
    ("runtime", "code", "kind"),
    [
        pytest.param("python3.12", {"index__py": PYTHON}, "ValueError", id="python"),
        pytest.param("nodejs22.x", {"index__mjs": NODE}, "RangeError", id="node"),
    ],
)
def test_an_exception_is_the_answer(
    make: Callable[..., str],
    invoke: Callable[..., Any],
    runtime: str,
    code: dict[str, str],
    kind: str,
) -> None:
    name = make(runtime, {"ZipFile": package(**code)}, Timeout=30)

    error, result = invoke(name, {"do": "raise"})

    assert error == "Unhandled"
    assert (result["errorMessage"], result["errorType"]) == ("no such node", kind)


@pytest.mark.parametrize(
    ("runtime", "code"),
    [
        pytest.param("python3.12", {"index__py": PYTHON}, id="python"),
        pytest.param("nodejs22.x", {"index__mjs": NODE}, id="node"),
    ],
)
def test_a_slow_function_times_out(
    make: Callable[..., str], invoke: Callable[..., Any], runtime: str, code: dict[str, str]
) -> None:
    name = make(runtime, {"ZipFile": package(**code)}, Timeout=1)

    error, result = invoke(name, {"do": "sleep"})

    assert error == "Unhandled"
    assert result["errorMessage"].endswith("Task timed out after 1.00 seconds")


def test_a_function_that_does_not_load_says_why(
    make: Callable[..., str], invoke: Callable[..., Any]
) -> None:
    name = make("python3.13", {"ZipFile": package(index__py="import nothing_there")}, Timeout=5)

    error, result = invoke(name, {})

    assert error == "Unhandled"
    assert result["errorMessage"] == "No module named 'nothing_there'"


# AWS's runtime has the SDK for both kinds of modules, and a bucket's host name resolves.
SDK_BY_REQUIRE = """
const { S3 } = require("@aws-sdk/client-s3");
exports.handler = async ({ bucket }) =>
  (await new S3({}).listObjectsV2({ Bucket: bucket })).Contents[0].Key;
"""
SDK_BY_IMPORT = """
import { S3 } from "@aws-sdk/client-s3";
export const handler = async ({ bucket }) =>
  (await new S3({}).listObjectsV2({ Bucket: bucket })).Contents[0].Key;
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(package(index__js=SDK_BY_REQUIRE), id="require"),
        pytest.param(package(index__mjs=SDK_BY_IMPORT), id="import"),
    ],
)
def test_node_functions_have_the_sdk(
    client: Callable[..., Any],
    make: Callable[..., str],
    invoke: Callable[..., Any],
    name: str,
    code: bytes,
) -> None:
    s3 = client("s3")
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_object(Bucket=name, Key="found", Body=b"")
    make("nodejs22.x", {"ZipFile": code}, Timeout=30)

    assert invoke(name, {"bucket": name}) == (None, "found")


# As CDK's AwsCustomResource loads it: what went wrong is lost.
HIDES_THE_REASON = """
exports.handler = async () => {
  try {
    require("@aws-sdk/client-s3");
  } catch {
    throw new Error("Package does not exist.");
  }
};
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(package(index__js='require("@aws-sdk/client-s3");'), id="require"),
        pytest.param(package(index__mjs='import "@aws-sdk/client-s3";'), id="import"),
        pytest.param(package(index__js=HIDES_THE_REASON), id="hidden"),
    ],
)
def test_a_node_function_without_the_sdk_is_reported_how_to_get_it(
    make: Callable[..., str],
    invoke: Callable[..., Any],
    code: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = make("nodejs22.x", {"ZipFile": code}, Timeout=5)
    monkeypatch.chdir(tmp_path)

    _, result = invoke(name, {})

    assert "the embedded AWS has no @aws-sdk/client-s3" in result["errorMessage"]
    assert 'run "npm install @aws-sdk/client-s3"' in result["errorMessage"]


def test_a_function_installs_nothing_on_this_machine(
    make: Callable[..., str], invoke: Callable[..., Any]
) -> None:
    code = """
const { spawnSync } = require("node:child_process");
exports.handler = async () => spawnSync("npm", ["install"], { encoding: "utf8" }).stderr;
"""
    name = make("nodejs22.x", {"ZipFile": package(index__js=code)}, Timeout=5)

    _, refused = invoke(name, {})

    assert "the embedded AWS installs nothing for a function" in refused


@pytest.mark.parametrize(
    ("runtime", "layer", "code"),
    [
        pytest.param(
            "python3.13",
            {"python/shared.py": "WHO = 'layer'"},
            {"index__py": "import shared\ndef handler(event, context): return shared.WHO"},
            id="python",
        ),
        pytest.param(
            "python3.13",
            {"python/lib/python3.13/site-packages/shared.py": "WHO = 'layer'"},
            {"index__py": "import shared\ndef handler(event, context): return shared.WHO"},
            id="python-site-packages",
        ),
        pytest.param(
            "nodejs22.x",
            {"nodejs/node_modules/shared/index.js": "exports.WHO = 'layer'"},
            {"index__js": "exports.handler = async () => require('shared').WHO"},
            id="node",
        ),
    ],
)
def test_layers_are_importable(
    functions: Any,
    make: Callable[..., str],
    invoke: Callable[..., Any],
    name: str,
    runtime: str,
    layer: dict[str, str],
    code: dict[str, str],
) -> None:
    published = functions.publish_layer_version(
        LayerName=name, Content={"ZipFile": package(**layer)}
    )

    make(
        runtime,
        {"ZipFile": package(**code)},
        Timeout=30,
        Layers=[published["LayerVersionArn"]],
    )

    assert invoke(name, {}) == (None, "layer")


def test_a_reserved_concurrency_of_0_throttles(functions: Any, make: Callable[..., str]) -> None:
    code = package(index__py="def handler(event, context): return 1")
    name = make("python3.13", {"ZipFile": code}, Timeout=30)
    functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)

    with pytest.raises(functions.exceptions.TooManyRequestsException) as throttled:
        functions.invoke(FunctionName=name)
    later = functions.invoke(FunctionName=name, InvocationType="Event")

    answer = throttled.value.response
    assert answer["Error"]["Message"] == "Rate Exceeded."
    assert answer["Reason"] == "ReservedFunctionConcurrentInvocationLimitExceeded"
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 429
    assert later["StatusCode"] == 202

    functions.delete_function_concurrency(FunctionName=name)
    assert functions.invoke(FunctionName=name)["StatusCode"] == 200


def test_what_a_function_prints_is_in_its_log(
    client: Callable[..., Any], functions: Any, make: Callable[..., str]
) -> None:
    name = make("python3.13", {"ZipFile": package(index__py=PYTHON)}, Timeout=30)

    answer = functions.invoke(FunctionName=name, Payload=json.dumps({"do": "work"}), LogType="Tail")

    events = client("logs").filter_log_events(logGroupName=f"/aws/lambda/{name}")["events"]
    messages = [event["message"] for event in events]
    assert "seen work" in messages
    assert messages[0].startswith("START RequestId: ")
    assert "seen work" in base64.b64decode(answer["LogResult"]).decode()


@pytest.fixture
def callback() -> Iterator[tuple[str, Queue[Any]]]:
    """A URL that takes one PUT, and what came."""
    received: Queue[Any] = Queue()

    class Receiver(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            length = int(self.headers["content-length"])
            received.put(json.loads(self.rfile.read(length)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Stay silent."""

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    server.timeout = 30
    thread = Thread(target=server.handle_request)
    thread.start()
    yield f"http://localhost:{server.server_port}/response", received
    thread.join()
    server.server_close()


def test_an_event_invocation_answers_cloudformation(
    functions: Any, make: Callable[..., str], callback: tuple[str, Queue[Any]]
) -> None:
    url, received = callback
    code = package(index__py=RESOURCE, cfnresponse__py=RESPONSE_MODULE.read_text())
    name = make("python3.13", {"ZipFile": code}, Timeout=30)
    event = {
        "RequestType": "Create",
        "ResponseURL": url,
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Thing",
    }

    answer = functions.invoke(FunctionName=name, InvocationType="Event", Payload=json.dumps(event))
    refused = received.get(timeout=120)

    assert answer["StatusCode"] == 202
    assert (refused["Status"], refused["PhysicalResourceId"]) == ("SUCCESS", "made-it")
    assert refused["Data"] == {"Zone": "usw2-az4"}
    assert (refused["StackId"], refused["LogicalResourceId"]) == ("stack", "Thing")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"Runtime": "java21"}, "python3.x and nodejs18.x", id="runtime"),
        pytest.param({"Runtime": None}, "Runtime and Handler are mandatory", id="no-runtime"),
        pytest.param(
            {"Role": "arn:aws:iam::123456789012:role/nobody"}, "cannot be assumed", id="role"
        ),
        pytest.param(
            {"Code": {"S3Bucket": "nobodys-bucket", "S3Key": "x"}}, "NoSuchBucket", id="bucket"
        ),
        pytest.param({"Code": {"ImageUri": "a:b"}}, "package type Zip only", id="image"),
    ],
)
def test_functions_that_cannot_run_are_refused(
    functions: Any,
    name: str,
    role: str,
    refusal: Callable[..., Any],
    change: dict[str, Any],
    words: str,
) -> None:
    wanted = {
        "FunctionName": name,
        "Runtime": "python3.13",
        "Role": role,
        "Handler": "index.handler",
        "Code": {"ZipFile": package(index__py=PYTHON)},
        **change,
    }

    refused = refusal(
        functions.create_function, **{k: v for k, v in wanted.items() if v is not None}
    )

    assert refused.code == "InvalidParameterValueException"
    assert words in refused.message

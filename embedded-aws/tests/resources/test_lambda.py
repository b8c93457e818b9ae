"""Functions and permissions through their handlers."""

import io
import json
import zipfile
from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.cloudformation.resource import HandlerError


@pytest.fixture
def function(deploy: Any) -> Any:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "lambda.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    role = deploy("AWS::IAM::Role", AssumeRolePolicyDocument=document)
    return deploy(
        "AWS::Lambda::Function",
        "Function",
        Code={"ZipFile": "def handler(event, context): return event"},
        Handler="index.handler",
        Runtime="python3.13",
        Role=role.attributes["Arn"],
        Environment={"Variables": {"lowerCase": "1"}},
    )


def test_a_function_changes_code_and_configuration_in_place(
    client: Any, deploy: Any, function: Any
) -> None:
    functions = client("lambda")
    first = functions.get_function(FunctionName=function.ref)["Configuration"]
    bucket = deploy("AWS::S3::Bucket")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("index.py", "def handler(event, context): return None")
    client("s3").put_object(Bucket=bucket.ref, Key="code.zip", Body=archive.getvalue())

    function.update(Code={"S3Bucket": bucket.ref, "S3Key": "code.zip"}, Timeout=60)

    second = functions.get_function(FunctionName=function.ref)["Configuration"]
    assert first["Environment"] == {"Variables": {"lowerCase": "1"}}
    assert (second["Timeout"], second["FunctionArn"]) == (60, function.attributes["Arn"])
    assert second["CodeSha256"] != first["CodeSha256"]
    function.delete()
    function.delete()
    with pytest.raises(ClientError, match="ResourceNotFound"):
        functions.get_function(FunctionName=function.ref)


def test_a_function_loses_what_the_template_drops(client: Any, function: Any) -> None:
    shown = ("Timeout", "MemorySize", "Description", "TracingConfig", "EphemeralStorage")
    changes: dict[str, Any] = {
        "Timeout": 10,
        "MemorySize": 512,
        "Description": "trains",
        "TracingConfig": {"Mode": "Active"},
        "EphemeralStorage": {"Size": 1024},
    }

    def configuration() -> Any:
        return client("lambda").get_function_configuration(FunctionName=function.ref)

    function.update(**changes)
    first = configuration()
    function.update("Environment", *changes)

    second = configuration()
    assert [first[name] for name in shown] == [changes[name] for name in shown]
    assert [second[name] for name in shown] == [
        3,
        128,
        "",
        {"Mode": "PassThrough"},
        {"Size": 512},
    ]
    assert second.get("Environment", {"Variables": {}}) == {"Variables": {}}


def test_a_function_logs_to_its_own_group_without_another(
    client: Any, function: Any, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    logs = client("logs")
    default = f"/aws/lambda/{function.ref}"
    function.update(LoggingConfig={"LogGroup": "/shared"})
    client("lambda").invoke(FunctionName=function.ref)
    first = logs.describe_log_groups(logGroupNamePrefix=default)["logGroups"]

    function.update("LoggingConfig")
    client("lambda").invoke(FunctionName=function.ref)

    second = logs.describe_log_groups(logGroupNamePrefix=default)["logGroups"]
    assert (first, [group["logGroupName"] for group in second]) == ([], [default])


def test_a_permission_is_a_statement_until_deleted(client: Any, deploy: Any, function: Any) -> None:
    functions = client("lambda")
    permission = deploy(
        "AWS::Lambda::Permission",
        FunctionName=function.attributes["Arn"],
        Action="lambda:InvokeFunction",
        Principal="events.amazonaws.com",
    )
    policy = json.loads(functions.get_policy(FunctionName=function.ref)["Policy"])

    permission.delete()
    permission.delete()

    assert [each["Sid"] for each in policy["Statement"]] == [permission.attributes["Id"]]
    with pytest.raises(ClientError, match="ResourceNotFound"):
        functions.get_policy(FunctionName=function.ref)


@pytest.fixture
def imported(client: Any, function: Any, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs inline code and returns why it failed, or None."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)  # where the function's calls would go

    def run(code: str) -> str | None:
        function.update(Code={"ZipFile": code}, Timeout=30)
        answer = client("lambda").invoke(FunctionName=function.ref)
        failed = "FunctionError" in answer
        return json.loads(answer["Payload"].read())["errorMessage"] if failed else None

    return run


HANDLER = "def handler(event, context): return cfnresponse.SUCCESS\n"


def test_inline_code_that_imports_cfnresponse_finds_it(imported: Any) -> None:
    assert imported(f"import json\nimport cfnresponse\n\n{HANDLER}") is None


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("import cfnresponse  # of CloudFormation", id="a comment beside it"),
        pytest.param("import json, cfnresponse", id="another module beside it"),
        pytest.param("from cfnresponse import SUCCESS", id="from"),
        pytest.param("if True:\n    import cfnresponse", id="indented"),
    ],
)
def test_any_other_way_to_import_cfnresponse_finds_nothing(imported: Any, line: str) -> None:
    assert imported(f"{line}\n{HANDLER}") == "No module named 'cfnresponse'"


def test_a_version_is_published_once_for_the_same_code(
    client: Any, deploy: Any, function: Any
) -> None:
    version = deploy("AWS::Lambda::Version", FunctionName=function.ref)

    with pytest.raises(HandlerError, match=r"A version for this Lambda function exists \( 1 \)"):
        deploy("AWS::Lambda::Version", FunctionName=function.ref)

    assert version.ref == f"{function.attributes['Arn']}:1"
    version.delete()
    versions = client("lambda").list_versions_by_function(FunctionName=function.ref)["Versions"]
    assert [each["Version"] for each in versions] == ["$LATEST"]


def test_a_layer_is_published_until_deleted(client: Any, deploy: Any) -> None:
    bucket = deploy("AWS::S3::Bucket")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("python/shared.py", "")
    client("s3").put_object(Bucket=bucket.ref, Key="layer.zip", Body=archive.getvalue())

    layer = deploy(
        "AWS::Lambda::LayerVersion",
        LayerName="shared",
        CompatibleRuntimes=["python3.13"],
        Content={"S3Bucket": bucket.ref, "S3Key": "layer.zip"},
    )

    listed = client("lambda").list_layer_versions(LayerName="shared")["LayerVersions"]
    assert [each["LayerVersionArn"] for each in listed] == [layer.ref]
    layer.delete()
    assert client("lambda").list_layer_versions(LayerName="shared")["LayerVersions"] == []


def test_an_alias_moves_to_another_version(client: Any, deploy: Any, function: Any) -> None:
    functions = client("lambda")
    deploy("AWS::Lambda::Version", FunctionName=function.ref)
    alias = deploy("AWS::Lambda::Alias", FunctionName=function.ref, FunctionVersion="1", Name="on")
    function.update(Code={"ZipFile": "def handler(event, context): return 2"})
    deploy("AWS::Lambda::Version", FunctionName=function.ref)

    alias.update(
        FunctionVersion="2",
        RoutingConfig={
            "AdditionalVersionWeights": [{"FunctionVersion": "1", "FunctionWeight": 0.5}]
        },
    )

    found = functions.get_alias(FunctionName=function.ref, Name="on")
    assert (found["FunctionVersion"], found["RoutingConfig"]) == (
        "2",
        {"AdditionalVersionWeights": {"1": 0.5}},
    )
    alias.delete()
    alias.delete()
    assert functions.list_aliases(FunctionName=function.ref)["Aliases"] == []

"""Documents of type Command, and what Run Command refuses before anything runs."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError

STEP = {"action": "aws:runShellScript", "name": "run", "inputs": {"runCommand": ["true"]}}


def content(*steps: Mapping[str, Any], version: str = "2.2", **parameters: Any) -> str:
    return json.dumps(
        {"schemaVersion": version, "parameters": parameters, "mainSteps": steps or [STEP]}
    )


@pytest.fixture(scope="session")
def ssm(client: Callable[..., Any]) -> Any:
    return client("ssm")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("{", "InvalidDocumentContent", id="no-json"),
        pytest.param("[]", "InvalidDocumentContent", id="no-structure"),
        pytest.param(content(version="3.0"), "InvalidDocumentSchemaVersion", id="version"),
        pytest.param(
            json.dumps({"schemaVersion": "2.2", "mainSteps": []}),
            "InvalidDocumentContent",
            id="no-steps",
        ),
        pytest.param(content(STEP, STEP), "InvalidDocumentContent", id="same-names"),
        pytest.param(
            content({**STEP, "name": "aws-runShellScript"}), "InvalidDocumentContent", id="name"
        ),
        pytest.param(
            content({**STEP, "inputs": {}}), "InvalidDocumentContent", id="no-run-command"
        ),
        pytest.param(
            content({**STEP, "inputs": {"runCommand": ["{{ Job }}"]}}),
            "InvalidDocumentContent",
            id="unknown-parameter",
        ),
        pytest.param(content(Job={"type": "Text"}), "InvalidDocumentContent", id="type"),
        pytest.param(
            content(Job={"type": "String", "allowedPattern": "^[a-z]+$", "default": "7"}),
            "InvalidDocumentContent",
            id="default",
        ),
    ],
)
def test_content_that_cannot_be_is_refused(
    ssm: Any, name: str, refusal: Callable[..., Any], text: str, code: str
) -> None:
    assert refusal(ssm.create_document, Name=name, Content=text).code == code


def test_a_document_has_versions_of_which_one_is_the_default(
    ssm: Any, name: str, refusal: Callable[..., Any]
) -> None:
    ssm.create_document(Name=name, Content=content())
    other = content({**STEP, "name": "other"})

    refused = refusal(ssm.update_document, Name=name, Content="{", DocumentVersion="$LATEST")
    ssm.update_document(Name=name, Content=other, DocumentVersion="$LATEST")

    assert refused.code == "InvalidDocumentContent"
    assert ssm.get_document(Name=name)["Content"] == content()
    assert ssm.get_document(Name=name, DocumentVersion="2")["Content"] == other
    ssm.update_document_default_version(Name=name, DocumentVersion="2")
    assert ssm.get_document(Name=name)["Content"] == other
    ssm.delete_document(Name=name)
    assert refusal(ssm.get_document, Name=name).code == "InvalidDocument"


def test_every_account_has_run_shell_script(ssm: Any) -> None:
    found = ssm.describe_document(Name="AWS-RunShellScript")["Document"]

    assert (found["Owner"], found["SchemaVersion"]) == ("Amazon", "1.2")
    assert {each["Name"] for each in found["Parameters"]} == {
        *("commands", "executionTimeout", "workingDirectory"),
    }
    assert "{{ commands }}" in ssm.get_document(Name="AWS-RunShellScript")["Content"]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({}, id="missing"),
        pytest.param({"Job": ["a"], "Other": ["b"]}, id="unknown"),
        pytest.param({"Job": ["A"]}, id="pattern"),
        pytest.param({"Job": ["a", "b"]}, id="two"),
        pytest.param({"Job": ["a"], "Kind": ["slow"]}, id="not-allowed"),
        pytest.param({"Job": ["a"], "Count": ["many"]}, id="no-number"),
    ],
)
def test_values_of_parameters_have_to_be_as_the_document_says(
    ssm: Any, name: str, refusal: Callable[..., Any], given: Mapping[str, list[str]]
) -> None:
    parameters: dict[str, Any] = {
        "Job": {"type": "String", "allowedPattern": "^[a-z]+$"},
        "Kind": {"type": "String", "allowedValues": ["fast"], "default": "fast"},
        "Count": {"type": "Integer", "default": 3},
    }
    ssm.create_document(Name=name, Content=content(**parameters))

    refused = refusal(
        ssm.send_command,
        DocumentName=name,
        Parameters=given,
        Targets=[{"Key": "tag:none", "Values": ["none"]}],
    )

    assert refused.code == "InvalidParameters"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        pytest.param({"DocumentName": "none-such"}, "InvalidDocument", id="document"),
        pytest.param({"InstanceIds": ["i-0123456789abcdef0"]}, "InvalidInstanceId", id="instance"),
        pytest.param({}, "ValidationException", id="nowhere"),
        pytest.param({"MaxErrors": "few"}, "ValidationException", id="max-errors"),
        pytest.param({"DocumentVersion": "9"}, "ValidationException", id="version-of-public"),
    ],
)
def test_a_command_that_cannot_be_is_refused(
    ssm: Any, refusal: Callable[..., Any], request_: Mapping[str, Any], code: str
) -> None:
    request = {
        "DocumentName": "AWS-RunShellScript",
        "Parameters": {"commands": ["true"]},
        **request_,
    }

    assert refusal(ssm.send_command, **request).code == code


def test_an_unknown_command_is_refused(ssm: Any, refusal: Callable[..., Any]) -> None:
    command = "01234567-0123-0123-0123-012345678901"
    instance = "i-0123456789abcdef0"

    assert refusal(ssm.cancel_command, CommandId=command).code == "InvalidCommandId"
    assert refusal(ssm.list_commands, CommandId=command).code == "InvalidCommandId"
    refused = refusal(ssm.get_command_invocation, CommandId=command, InstanceId=instance)
    assert refused.code == "InvocationDoesNotExist"


def test_a_new_version_needs_other_content(ssm: Any, name: str) -> None:
    ssm.create_document(Name=name, Content=content())

    with pytest.raises(ClientError, match="DuplicateDocumentContent"):
        ssm.update_document(Name=name, Content=content(), DocumentVersion="$LATEST")

"""Documents: moto keeps them, with content that was checked, and AWS's own AWS-RunShellScript.

Systems Manager API reference, CreateDocument: the type of a document is Command unless the call
names another. From memory: the platforms of aws:runShellScript, and the text of AWS-RunShellScript.
Content of other types than Command is not checked.
"""

import json
from typing import Any

from moto.ssm.models import Document, Documents

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.ssm.document_content import SHELL, DocumentContent

RUN_SHELL_SCRIPT = "AWS-RunShellScript"
_PLATFORMS = ["Linux", "MacOS"]
_CONTENT = {
    "schemaVersion": "1.2",
    "description": "Run a shell script or specify the commands to run.",
    "parameters": {
        "commands": {
            "type": "StringList",
            "description": "(Required) Specify a shell script or a command to run.",
            "minItems": 1,
            "displayType": "textarea",
        },
        "workingDirectory": {
            "type": "String",
            "default": "",
            "description": "(Optional) The path to the working directory on your instance.",
            "maxChars": 4096,
        },
        "executionTimeout": {
            "type": "String",
            "default": "3600",
            "description": (
                "(Optional) The time in seconds for a command to complete before it is considered "
                "to have failed. Default is 3600 (1 hour). Maximum is 172800 (48 hours)."
            ),
            "allowedPattern": (
                "([1-9][0-9]{0,4})|(1[0-6][0-9]{4})|(17[0-1][0-9]{3})|(172[0-7][0-9]{2})|(172800)"
            ),
        },
    },
    "runtimeConfig": {
        SHELL: {
            "properties": [
                {
                    "id": f"0.{SHELL}",
                    "runCommand": "{{ commands }}",
                    "workingDirectory": "{{ workingDirectory }}",
                    "timeoutSeconds": "{{ executionTimeout }}",
                }
            ]
        }
    },
}


@action("ssm", "CreateDocument")
def create_document(call: Call) -> Any:
    """Create a document, after checking its content if it is of type Command."""
    params = call.params
    kind, form = params.get("DocumentType", "Command"), params.get("DocumentFormat", "JSON")
    if kind == "Command":
        DocumentContent(params["Content"], form)
    documents = call.backend("ssm").create_document(
        content=params["Content"],
        requires=params.get("Requires"),
        attachments=params.get("Attachments"),
        name=params["Name"],
        version_name=params.get("VersionName"),
        document_type=kind,
        document_format=form,
        target_type=params.get("TargetType"),
        tags=params.get("Tags"),
    )
    documents.get_latest_version().platform_types = _PLATFORMS
    return {"DocumentDescription": documents.describe(tags=params.get("Tags"))}


@action("ssm", "UpdateDocument")
def update_document(call: Call) -> Any:
    """Add a version to a document, after checking its content if it is of type Command."""
    params = call.params
    documents = call.backend("ssm")._get_documents(params["Name"])
    if documents.get_default_version().document_type == "Command":
        DocumentContent(params["Content"], params.get("DocumentFormat", "JSON"))
    answer = call.moto()
    documents.get_latest_version().platform_types = _PLATFORMS
    answer.result["DocumentDescription"]["PlatformTypes"] = _PLATFORMS
    return answer


@action("ssm", "GetDocument", "DescribeDocument")
def get_document(call: Call) -> Any:
    """Return a document's content or description; AWS-RunShellScript is in every account."""
    if call.params["Name"] != RUN_SHELL_SCRIPT:
        return call.moto()
    document = _public()
    if call.operation == "DescribeDocument":
        return {"Document": Documents(document).describe()}
    return {
        **{"Name": document.name, "Content": document.content, "Status": document.status},
        **{"DocumentVersion": document.document_version, "DocumentFormat": "JSON"},
        "DocumentType": document.document_type,
    }


def find_document(call: Call, name: str, version: str | None) -> Document:
    """Return a version of a document of type Command.

    Args:
        call: of the document's account and region.
        name: of the document, or its ARN.
        version: its number, `$LATEST`, `$DEFAULT`, or None.

    Raises:
        Refusal: there is none, or it is of another type.
    """
    name = name.rpartition("/")[2]
    if name == RUN_SHELL_SCRIPT:
        return _public()
    found = call.backend("ssm")._get_documents(name)
    wanted = None if version in (None, "$DEFAULT") else version
    document: Document | None = found.find(wanted, strict=False)
    if document is None:
        raise Refusal(
            "InvalidDocumentVersion", "The document version is not valid or does not exist."
        )
    if document.document_type != "Command":
        raise Refusal(
            "InvalidDocument",
            f"Document {name} is of type {document.document_type}; only documents of type Command "
            "can be sent.",
        )
    return document


def _public() -> Document:
    document = Document(  # type: ignore[abstract]  # as moto makes its own
        account_id="Amazon",
        name=RUN_SHELL_SCRIPT,
        version_name="",
        content=json.dumps(_CONTENT),
        document_type="Command",
        document_format="JSON",
        requires=[],
        attachments=[],
        target_type="",
    )
    document.platform_types = _PLATFORMS
    return document

"""The Systems Manager document by which jobs start on plain EC2 nodes."""

import base64
import json
from collections.abc import Mapping

from aws_cdk import Fn, Token
from aws_cdk import aws_ssm as ssm
from constructs import Construct

# What a job is: JSON, as trainshed.jobs writes it and trainshed-run-job reads it. Base64, because
# Run Command puts parameters into the shell's text as they are.
_BASE64 = "^[A-Za-z0-9+/=]+$"
_SECONDS = "^[1-9][0-9]{0,5}$"


def job_document(
    scope: Construct, construct_id: str, *, environment: Mapping[str, str], timeout_seconds: int
) -> ssm.CfnDocument:
    """Declare a document that runs a job on the nodes that a command names.

    AWS Systems Manager user guide, "Data elements and parameters", and the plugin
    aws:runShellScript. A new version is the default one, so that the document keeps its name, by
    which the jobs of a cluster are found.

    Args:
        scope: parent.
        construct_id: id within the parent.
        environment: variables of all jobs.
        timeout_seconds: after which the agent ends a job that says nothing else.
    """
    text = json.dumps(environment)
    # What has a pseudo parameter is known to CloudFormation alone.
    defaults = (
        Fn.base64(text) if Token.is_unresolved(text) else base64.b64encode(text.encode()).decode()
    )
    content = {
        "schemaVersion": "2.2",
        "description": "Run a job of trainshed on the nodes that are named",
        "parameters": {
            "Job": {
                "type": "String",
                "description": "The job, in JSON, in base64",
                "allowedPattern": _BASE64,
            },
            "TimeoutSeconds": {
                "type": "String",
                "description": "A job that takes longer is ended",
                "allowedPattern": _SECONDS,
                "default": str(timeout_seconds),
            },
        },
        "mainSteps": [
            {
                "action": "aws:runShellScript",
                # Agents name the log stream by it.
                "name": "runShellScript",
                "inputs": {
                    "timeoutSeconds": "{{ TimeoutSeconds }}",
                    "runCommand": [
                        'export PATH="/opt/trainshed:$PATH"',
                        f"exec trainshed-run-job --environment {defaults} {{{{ Job }}}} 2>&1",
                    ],
                },
            }
        ],
    }
    return ssm.CfnDocument(
        scope,
        construct_id,
        document_type="Command",
        document_format="JSON",
        content=content,
        target_type="/AWS::EC2::Instance",
        update_method="NewVersion",
    )

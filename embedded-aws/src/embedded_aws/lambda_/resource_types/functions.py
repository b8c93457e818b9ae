"""Lambda functions and who may invoke them.

CloudFormation user guide, "cfn-response module": CloudFormation adds the module `cfnresponse` to
Python code given as ZipFile, and to no other code; "Use this exact import statement. If you use
other variants of the import statement, CloudFormation doesn't include the response module."
Inferred: "Exact" means a line with nothing else, not even a comment or an indent.
"""

import io
import zipfile
from pathlib import Path
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource

_RESPONSE_MODULE = Path(__file__).parents[1] / "response_module" / "cfnresponse.py"


@resource("AWS::Lambda::Function")
class Function(Handler):
    """A function; its Ref is the function's name."""

    service = "lambda"
    target, name, name_limit = "FunctionName", "FunctionName", 64
    creation = "CreateFunction", "FunctionName"
    reading = "GetFunction", "Configuration"
    deletion = "DeleteFunction"
    later = ("ReservedConcurrentExecutions",)
    settings = {
        "ReservedConcurrentExecutions": Setting(
            put="PutFunctionConcurrency", remove="DeleteFunctionConcurrency"
        )
    }
    tagging = Tagging(target="Resource", by="Arn", form=dict)
    # Other calls set these.
    fixed = ("CodeSigningConfigArn", "PublishToLatestPublished")

    # Properties of UpdateFunctionCode; the others are of UpdateFunctionConfiguration.
    _of_code = ("Code", "Architectures")

    defaults = {
        "DeadLetterConfig": {"TargetArn": ""},
        "Description": "",
        "Environment": {"Variables": {}},
        "EphemeralStorage": {"Size": 512},
        "FileSystemConfigs": [],
        "KmsKeyArn": "",
        "Layers": [],
        "LoggingConfig": {"LogFormat": "Text"},
        "MemorySize": 128,
        "SnapStart": {"ApplyOn": "None"},
        "Timeout": 3,
        "TracingConfig": {"Mode": "PassThrough"},
        "VpcConfig": {"SubnetIds": [], "SecurityGroupIds": []},
    }

    def _wanted(self, request: Request) -> dict[str, Any]:
        return super()._wanted(request) | {"Code": self._code(request.properties)}

    def _code(self, properties: Properties) -> dict[str, Any]:
        """Return the code as Lambda takes it: text in the template becomes a zip."""
        code = dict(properties["Code"])
        if "ZipFile" in code:
            text: str = code["ZipFile"]
            suffix = "js" if properties["Runtime"].startswith("nodejs") else "py"
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, "w") as file:
                file.writestr(f"index.{suffix}", text)
                if suffix == "py" and "import cfnresponse" in text.splitlines():
                    file.write(_RESPONSE_MODULE, _RESPONSE_MODULE.name)
            code["ZipFile"] = archive.getvalue()
        return code

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        now, function = request.properties, {"FunctionName": physical_id}
        if changed(request, before, *self._of_code):
            architectures = now.get("Architectures", ["x86_64"])
            wanted = {**self._code(now), "Architectures": architectures, **function}
            self._call(request, "UpdateFunctionCode", wanted)
        wanted = {**self._dropped(before), **now}
        leave = ("FunctionName", "PackageType", "Tags", *self.later, *self._of_code, *self.fixed)
        self._call(request, "UpdateFunctionConfiguration", wanted, leave=leave, **function)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        configuration = self._described(request, physical_id)
        snap_start = configuration.get("SnapStart", {})
        response = {
            "ApplyOn": snap_start.get("ApplyOn", "None"),
            "OptimizationStatus": snap_start.get("OptimizationStatus", "Off"),
        }
        return {
            "Arn": configuration["FunctionArn"],
            "SnapStartResponse": response,
            **{f"SnapStartResponse.{name}": value for name, value in response.items()},
        }


@resource("AWS::Lambda::Permission")
class Permission(Handler):
    """A permission to invoke a function; its Ref is `function|statement id`."""

    service = "lambda"
    parts = "FunctionName", "|", "StatementId"
    deletion = "RemovePermission"

    def _create(self, request: Request) -> str:
        statement_id = generated_name(request, limit=100)
        self._call(request, "AddPermission", request.properties, StatementId=statement_id)
        return f"{request.properties['FunctionName']}|{statement_id}"

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Id": physical_id.rpartition("|")[2]}

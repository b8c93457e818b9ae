"""Lambda functions, which run without Docker.

Lambda API reference: the invocation types, the log group /aws/lambda/NAME (or the one of
LoggingConfig), the execution role's credentials in the environment, what CreateFunction refuses of
roles and code. Inferred: the words for a runtime that the embedded AWS does not run. Calls of a
function reach this server only: AWS_ENDPOINT_URL of the server's environment is passed on.
"""

import base64
import json
import os
import re
import threading
import time
from typing import Any

from moto.awslambda.models import LambdaFunction
from moto.backends import get_backend
from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, action, correction
from embedded_aws.environment import pointing_at
from embedded_aws.iam.roles import role_exists
from embedded_aws.lambda_.runner import Invocation, Outcome, run

_RUNTIME = re.compile(r"python3\.\d+|nodejs(1[89]|[2-9]\d)\.x")


class Throttled(Refusal):
    """A call that a function's reserved concurrency does not allow."""

    # A member of the error's shape.
    Reason = "ReservedFunctionConcurrentInvocationLimitExceeded"


@correction
def run_functions() -> None:
    """Have moto's functions run their code in local processes."""
    # mypy refuses replacing methods; moto offers no other way.
    LambdaFunction.invoke = _invoke  # type: ignore[assignment,method-assign]


@action("lambda", "CreateFunction")
def create_function(call: Call) -> Any:
    """Create a function, after checking that it can run here."""
    code = call.params.get("Code", {})
    runtime = call.params.get("Runtime")
    if call.params.get("PackageType", "Zip") != "Zip" or "ImageUri" in code:
        raise _invalid("the embedded AWS runs functions of package type Zip only.")
    if runtime is None or not call.params.get("Handler"):
        raise _invalid(
            "Runtime and Handler are mandatory parameters for functions created with deployment "
            "packages."
        )
    _check_runtime(runtime)
    if not role_exists(call, call.params["Role"]):
        raise _invalid("The role defined for the function cannot be assumed by Lambda.")
    if "S3Bucket" in code:
        _check_object(call, code["S3Bucket"], code.get("S3Key", ""))
    answer = call.moto()
    if "LoggingConfig" in call.params:
        _set_log_group(call)
    return answer


@action("lambda", "UpdateFunctionConfiguration")
def update_function_configuration(call: Call) -> Any:
    """Change a function, after checking that a new runtime can run here."""
    if "Runtime" in call.params:
        _check_runtime(call.params["Runtime"])
    function = _function(call)
    # What moto's operation ignores.
    if "EphemeralStorage" in call.params:
        function.ephemeral_storage = call.params["EphemeralStorage"]["Size"]
    if "KMSKeyArn" in call.params:
        function.kms_key_arn = call.params["KMSKeyArn"]
    if "TracingConfig" in call.params:
        function.tracing_config = call.params["TracingConfig"]
    if "LoggingConfig" in call.params:
        _set_log_group(call)
    return call.moto()


def _function(call: Call) -> LambdaFunction:
    function: LambdaFunction = call.backend("lambda").get_function(call.params["FunctionName"])
    return function


def _set_log_group(call: Call) -> None:
    function = _function(call)
    default = f"/aws/lambda/{function.function_name}"
    function.logs_group_name = call.params["LoggingConfig"].get("LogGroup", default)


def _check_runtime(runtime: str) -> None:
    if not _RUNTIME.fullmatch(runtime):
        raise _invalid(
            f"the embedded AWS runs python3.x and nodejs18.x and newer functions, not {runtime}."
        )


def _invalid(message: str) -> Refusal:
    return Refusal("InvalidParameterValueException", message)


def _check_object(call: Call, bucket: str, key: str) -> None:
    buckets = call.backend("s3").buckets
    problem = None
    if bucket not in buckets:
        problem = "NoSuchBucket. S3 Error Message: The specified bucket does not exist"
    elif key not in buckets[bucket].keys:
        problem = "NoSuchKey. S3 Error Message: The specified key does not exist."
    if problem:
        raise _invalid(f"Error occurred while GetObject. S3 Error Code: {problem}")


def _invoke(
    function: LambdaFunction, body: str, request_headers: Any, response_headers: Any
) -> str | bytes:
    """Answer Invoke, in place of moto's method, which needs Docker."""
    try:
        event = json.loads(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise Refusal(
            "InvalidRequestContentException", f"Could not parse request body into json: {error}"
        ) from error
    throttled = function.reserved_concurrency == 0
    kind = request_headers.get("x-amz-invocation-type", "RequestResponse")
    if kind == "DryRun":
        return b""
    if kind == "Event":
        if throttled:
            return b""
        threading.Thread(target=_run_and_log, args=(function, event), daemon=True).start()
        return b""
    if throttled:
        raise Throttled("TooManyRequestsException", "Rate Exceeded.")
    outcome = _run_and_log(function, event)
    if outcome.failed:
        response_headers["x-amz-function-error"] = "Unhandled"
    tail = outcome.log.encode()[-4096:]
    response_headers["x-amz-log-result"] = base64.b64encode(tail).decode()
    return outcome.payload.encode()


def _run_and_log(function: LambdaFunction, event: Any) -> Outcome:
    logs, group = function.logs_backend, function.logs_group_name
    stream = f"{time.strftime('%Y/%m/%d')}/[{function.version}]{mock_random.uuid4().hex}"
    logs.ensure_log_group(group)
    logs.create_log_stream(group, stream)
    outcome = run(
        Invocation(
            code=function.code_bytes,
            layers=_layers(function),
            runtime=str(function.run_time),
            handler=str(function.handler),
            timeout_seconds=float(function.timeout),
            event=event,
            context={
                "function_name": function.function_name,
                "function_version": str(function.version),
                "invoked_function_arn": function.function_arn,
                "memory_limit_in_mb": str(function.memory_size),
                "log_group_name": group,
                "log_stream_name": stream,
            },
            environment={**_aws_environment(function, stream), **function.environment_vars},
        )
    )
    # The log group may have been deleted with the stack whose deletion the function answered.
    if group in logs.groups:
        now = int(time.time() * 1000)
        events = [{"timestamp": now, "message": line} for line in outcome.log.splitlines()]
        logs.put_log_events(group, stream, events)
    return outcome


def _layers(function: LambdaFunction) -> tuple[bytes, ...]:
    backend = get_backend("lambda")[function.account_id][function.region]
    versions = [backend.layers_versions_by_arn(layer["Arn"]) for layer in function.layers]
    # On AWS functions keep a deleted layer version that they use; moto removes it.
    return tuple(version.code_bytes for version in versions if version)


def _aws_environment(function: LambdaFunction, stream: str) -> dict[str, str]:
    """Return the variables that Lambda sets, with credentials of the function's role."""
    if "AWS_ENDPOINT_URL" not in os.environ:
        raise Refusal(
            "ServiceException",
            "the server's own AWS_ENDPOINT_URL is not set; without it the function's calls "
            "would leave the embedded AWS",
        )
    sts = get_backend("sts")[function.account_id][function.partition]
    credentials = sts.assume_role(
        region_name=function.region,
        role_session_name=function.function_name,
        role_arn=function.role,
        policy="",
        duration=3600,
        external_id="",
    )
    return {
        **pointing_at(
            os.environ["AWS_ENDPOINT_URL"],
            region=function.region,
            key=credentials.access_key_id,
            secret=credentials.secret_access_key,
        ),
        "AWS_SESSION_TOKEN": credentials.session_token,
        "AWS_EXECUTION_ENV": f"AWS_Lambda_{function.run_time}",
        "AWS_LAMBDA_FUNCTION_NAME": function.function_name,
        "AWS_LAMBDA_FUNCTION_VERSION": str(function.version),
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_size),
        "AWS_LAMBDA_LOG_GROUP_NAME": function.logs_group_name,
        "AWS_LAMBDA_LOG_STREAM_NAME": stream,
        "_HANDLER": str(function.handler),
        "TZ": ":UTC",
    }

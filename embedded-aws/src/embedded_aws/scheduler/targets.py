"""The targets of schedules: nearly any call of the API of any service, or a function of Lambda.

EventBridge Scheduler user guide, "Using templated targets": the ARN of a function stands for
Lambda's Invoke; Lambda developer guide, "Invoke a Lambda function on a schedule": asynchronously.
Other templated targets are not there. "Using universal targets": the form of the ARN, and that
actions that only read are refused. The names of the input begin with capitals also where the API's
own do not; what users of Terraform quote of CreateSchedule for others: "Request payload is missing
the following field(s): ClusterName, NodegroupName". Inferred: the words about unknown fields and
services, and that what is required further inside is not looked at.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import botocore.session
from botocore import xform_name
from botocore.model import OperationNotFoundError, ServiceModel, Shape

from embedded_aws.actions import Refusal

_ARN = re.compile(r"arn:aws:scheduler:::aws-sdk:([a-z0-9]+):([a-z]\w+)")
_FUNCTION = re.compile(r"arn:aws:lambda:[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9:$_-]+")
_READING = (
    *("get", "describe", "list", "poll", "receive", "search", "scan", "query", "select", "read"),
    *("lookup", "discover", "validate", "batchGet", "batchDescribe", "batchRead", "transactGet"),
    *("adminGet", "adminList", "testMigration", "retrieve", "testConnection"),
    *("translateDocument", "isAuthorized", "invokeModel"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A call that a schedule makes.

    Attributes:
        service: boto3's name of the service.
        method: boto3's, for instance `update_nodegroup_config`.
        arguments: of the method.
    """

    service: str
    method: str
    arguments: Mapping[str, Any]


def read_target(arn: str, text: str) -> Target:
    """Return what a target calls.

    Args:
        arn: of the target.
        text: its input.

    Raises:
        Refusal: AWS refuses it.
        NotImplementedError: it is another templated target.
    """
    if _FUNCTION.fullmatch(arn):
        invocation = {"FunctionName": arn, "InvocationType": "Event", "Payload": text}
        return Target(service="lambda", method="invoke", arguments=invocation)
    found = _ARN.fullmatch(arn)
    if not found:
        raise NotImplementedError(
            f"a schedule whose target is {arn}, which is neither universal nor a function"
        )
    service, action = _service(found[1]), found[2]
    if service is None or action.startswith(_READING):
        raise _invalid(f"{arn} is not supported.")
    model = _model(service)
    try:
        operation = model.operation_model(action[0].upper() + action[1:])
    except OperationNotFoundError as error:
        raise _invalid(f"{arn} is not supported.") from error
    try:
        given = json.loads(text)
    except ValueError as error:
        raise _invalid(f"Invalid RequestJson provided. Reason {error}.") from error
    if not isinstance(given, Mapping):
        raise _invalid("Invalid RequestJson provided. Reason it is not an object.")
    shape = operation.input_shape
    arguments = _named(shape, given) if shape else {}
    required = shape.required_members if shape else []
    if missing := [_capital(name) for name in required if name not in arguments]:
        raise _invalid(
            "Invalid RequestJson provided. Reason Request payload is missing the following "
            f"field(s): {', '.join(missing)}."
        )
    return Target(service=service, method=xform_name(operation.name), arguments=dict(arguments))


def _named(shape: Shape, value: Any) -> Any:
    """Return an input with the API's own names."""
    match shape.type_name, value:
        case "structure", Mapping():
            return dict(_members(shape, value))
        case "list", list():
            return [_named(shape.member, each) for each in value]
        case "map", Mapping():
            return {key: _named(shape.value, each) for key, each in value.items()}
    return value


def _members(shape: Any, value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    own = {name.lower(): name for name in shape.members}
    for name, each in value.items():
        # One that begins with a small letter is not seen at all.
        if name[:1].isupper():
            known = own.get(name.lower())
            if known is None:
                raise _invalid(f"Invalid RequestJson provided. Reason Unknown field: {name}.")
            yield known, _named(shape.members[known], each)


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


@cache
def _service(identifier: str) -> str | None:
    """Return boto3's name of a service that AWS's SDK for Java calls by this identifier."""
    names: list[str] = _session().get_available_services()
    for name in names:
        if name.replace("-", "") == identifier:
            return name
    return None


@cache
def _model(service: str) -> ServiceModel:
    found: ServiceModel = _session().get_service_model(service)
    return found


@cache
def _session() -> botocore.session.Session:
    return botocore.session.Session()


def _invalid(message: str) -> Refusal:
    return Refusal("ValidationException", message)

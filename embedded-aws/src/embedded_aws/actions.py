"""Extending moto: actions that answer requests, and corrections of moto itself.

An action is a function from a `Call` to the members of the operation's output shape. Requests are
parsed and answers written by botocore's own service models, so they look as botocore expects. An
action may hand the request on to moto's own implementation with `Call.moto()`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from typing import Any, TypeVar, cast

from botocore.utils import parse_timestamp
from moto.backends import ALT_SERVICE_NAMES, get_backend
from moto.core.exceptions import ServiceException
from moto.core.model import OperationModel
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request, determine_request_protocol
from moto.core.responses import ActionResult, BaseResponse
from moto.core.utils import camelcase_to_underscores, get_service_model

from embedded_aws.constraints import code_of_violations, violations
from embedded_aws.steady_dicts import steady

State = TypeVar("State")
# A resource by its API fields, and many by id or ARN.
Row = dict[str, Any]
Table = dict[str, Row]
# An answer: the members of the operation's output shape, or whatever moto's own method returned.
Answer = Any


class Refusal(ServiceException):
    """AWS refuses the call: `Refusal("InvalidParameterValue", "in AWS's words")`."""


def existing(found: State | None, code: str, message: str) -> State:
    """Return what was looked up.

    Raises:
        Refusal: with this code and message, because there is none.
    """
    if found is None:
        raise Refusal(code, message)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One API request.

    Attributes:
        operation: for instance `CreatePlacementGroup`.
        account: 12 digits.
        region: for instance `us-west-2`.
        params: the operation's input, by the names of its input shape.
        response: moto's object for this request.
        original: moto's own method for this action, or None where it has none.
    """

    operation: str
    account: str
    region: str
    params: Mapping[str, Any]
    response: BaseResponse
    original: Callable[[BaseResponse], Any] | None

    def moto(self) -> Answer:
        """Answer as moto does."""
        if self.original is None:
            raise NotImplementedError("moto has no implementation of this action")
        return self.original(self.response)

    def backend(self, service: str) -> Any:
        """Return moto's backend of a service, in this call's account and region."""
        # get_backend is typed by the literal names of the services.
        # moto keeps global services (IAM, S3) under the partition's name.
        regions = get_backend(service)[self.account]  # type: ignore[call-overload]
        return regions[self.region if self.region in regions else self.response.partition]

    def state(self, service: str, name: str, kind: Callable[[], State]) -> State:
        """Return our own data of a moto backend; `kind` creates it the first time.

        It is an attribute of the backend, so moto's reset removes it too.
        """
        remembered: State = self.backend(service).__dict__.setdefault(
            f"embedded_aws_{name}", steady(kind())
        )
        return remembered

    def arn(self, service: str, resource: str) -> str:
        """Return the ARN of a resource of this call's account and region."""
        return f"arn:aws:{service}:{self.region}:{self.account}:{resource}"

    def dry_run(self) -> None:
        """Stop here when the call is a dry run."""
        if self.params.get("DryRun"):
            raise Refusal(
                "DryRunOperation", "Request would have succeeded, but DryRun flag is set."
            )


def table(service: str, name: str) -> Callable[[Call], Table]:
    """Return what gives the rows of a call's account and region that moto has no place for.

    Args:
        service: whose backend of moto's keeps them.
        name: of the table. Its rows are as Describe actions return them, by id or ARN.
    """
    return lambda call: call.state(service, name, Table)


Action = Callable[[Call], Answer]
_actions: dict[tuple[str, str], Action] = {}
Correction = Callable[[], None]
_corrections: list[Correction] = []


def action(service: str, *operations: str) -> Callable[[Action], Action]:
    """Register the decorated function as the answer to these operations of a service.

    Args:
        service: botocore's name of the service, for instance `ec2`.
        operations: for instance `CreatePlacementGroup`.
    """

    def register(function: Action) -> Action:
        for operation in operations:
            if (service, operation) in _actions:
                raise ValueError(f"{service}:{operation} already has an action")
            _actions[service, operation] = function
        return function

    return register


def correction(function: Correction) -> Correction:
    """Register the decorated function to correct moto when the services are installed."""
    _corrections.append(function)
    return function


def attach() -> None:
    """Add every registered action to moto's response class of its service, and correct moto.

    Call it once.
    """
    for correct in _corrections:
        correct()
    for (service, operation), function in _actions.items():
        response_class = _response_class(service)
        # moto's Batch routes by the path, which is the operation in lower case.
        name = operation.lower() if service == "batch" else camelcase_to_underscores(operation)
        original = getattr(response_class, name, None)
        setattr(response_class, name, _method(service, operation, function, original))


@cache
def _response_class(service: str) -> type[BaseResponse]:
    """Return the class that answers moto's URLs of a service."""
    module = service.replace("-", "")
    urls = import_module(f"moto.{ALT_SERVICE_NAMES.get(module, module)}.urls")
    (found,) = {dispatch.__self__ for dispatch in urls.url_paths.values()}
    return cast("type[BaseResponse]", found)


def _method(
    service: str,
    operation: str,
    function: Action,
    original: Callable[[BaseResponse], Any] | None,
) -> Callable[[BaseResponse], Any]:
    def method(response: BaseResponse) -> Any:
        model = get_service_model(service).operation_model(operation)
        parameters = parameters_of(model, response.normalized_request, response.uri_match)
        if code := code_of_violations(service):
            for violation in violations(model.input_shape, parameters, ""):
                raise Refusal(code, violation)
        answer = function(
            Call(
                operation=operation,
                account=response.current_account,
                region=response.region,
                params=parameters,
                response=response,
                original=original,
            )
        )
        # Batch's response takes its operations' names from their paths, in lower case.
        response._get_action = lambda: operation  # type: ignore[method-assign]
        return ActionResult(answer) if isinstance(answer, dict) else answer

    return method


def parameters_of(
    operation: OperationModel, request: Request, in_path: dict[str, Any]
) -> Mapping[str, Any]:
    """Return a request's parameters, by the names of the operation's input shape.

    Args:
        operation: what is called.
        request: the request.
        in_path: the parameters that were found in its path.
    """
    protocol = determine_request_protocol(operation.service_model, request.content_type)
    parser = PROTOCOL_PARSERS[protocol](operation, timestamp_parser=_in_utc, map_type=dict)
    parsed: Mapping[str, Any] = parser.parse(
        {
            "method": request.method,
            "values": request.values,
            "headers": request.headers,
            "body": request.data,
            "url_path": request.path,
            "url_params": in_path,
        }
    )
    return parsed


def _in_utc(value: str) -> datetime:
    # moto's own parser drops the zone.
    moment: datetime = parse_timestamp(value)
    return moment.astimezone(UTC)

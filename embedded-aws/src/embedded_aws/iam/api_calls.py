"""The API call that a request makes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from botocore.exceptions import UnknownServiceError
from botocore.model import OperationNotFoundError
from moto.core.request import Request, determine_request_protocol
from moto.core.routing import get_service_router
from moto.core.utils import get_service_model
from werkzeug import Request as AnyRequest
from werkzeug.exceptions import NotFound

from embedded_aws.actions import parameters_of
from embedded_aws.faults import SIGNED_AS

# The prefix of a service's actions in policies, where requests are signed for another name.
_PREFIXES = {"monitoring": "cloudwatch", "tagging": "tag"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """One call of AWS's API.

    Attributes:
        service: the prefix of the service's actions in policies, for instance `cloudwatch`.
        operation: for instance `PutMetricData`.
        account: 12 digits.
        region: for instance `us-west-2`.
        protocol: for instance `rest-json`.
        params: the operation's input, by the names of its input shape.
    """

    service: str
    operation: str
    account: str
    region: str
    protocol: str
    params: Mapping[str, Any]

    def values(self, *names: str) -> list[str]:
        """Return the values of the parameters of these names, in lower case and without hyphens.

        Parameters within others count where no outer one has such a name; tags never do.
        """
        level: list[Any] = [self.params]
        while level:
            members = [item for each in level for item in _members(each)]
            named = [value for name, value in members if name in names]
            if texts := [text for value in named for text in _texts(value)]:
                return texts
            level = [value for _, value in members]
        return []

    def tags(self) -> dict[str, str]:
        """Return the tags that the call gives, or the keys of those that it takes away."""
        tags: dict[str, str] = {}
        for holder in (self.params, *self.params.get("TagSpecifications", ())):
            for name in ("Tags", "tags", "TagKeys", "tagKeys"):
                tags |= _tags(holder.get(name) or {})
        return tags


def read_call(request: AnyRequest, signed_for: str, account: str, region: str) -> ApiCall:
    """Read the call of a request, which remains readable.

    Args:
        request: the request.
        signed_for: the service for which it is signed, for instance `monitoring`.
        account: 12 digits.
        region: for instance `us-west-2`.

    Raises:
        NotImplementedError: it is no call that the service's model has.
    """
    body = request.get_data()
    own = Request(
        {**request.environ, "wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
    )
    service = SIGNED_AS.get(signed_for, signed_for)
    in_path: dict[str, Any] = {}
    try:
        model = get_service_model(service)
        protocol = determine_request_protocol(model, own.content_type)
        # Without the router, which takes long to make where there are many operations.
        if protocol in ("ec2", "query"):
            operation = model.operation_model(own.values["Action"])
        elif protocol == "json":
            operation = model.operation_model(own.headers["X-Amz-Target"].rpartition(".")[2])
        else:
            operation, in_path = get_service_router(service).match(own)
        params = {**in_path, **parameters_of(operation, own, in_path)}
    except (KeyError, NotFound, OperationNotFoundError, UnknownServiceError, ValueError) as error:
        raise NotImplementedError(f"{own.method} {own.path} of {service}") from error
    return ApiCall(
        service=_PREFIXES.get(signed_for, signed_for),
        operation=operation.name,
        account=account,
        region=region,
        protocol=protocol,
        params=params,
    )


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members of a structure, or of the structures in a list."""
    if isinstance(value, list):
        for each in value:
            yield from _members(each)
    elif isinstance(value, Mapping):
        for name, member in value.items():
            plain = name.lower().replace("-", "")
            if not plain.startswith("tag"):
                yield plain, member


def _texts(value: Any) -> list[str]:
    """Return a text, number or truth as a policy has it, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return [
        str(each).lower() if isinstance(each, bool) else str(each)
        for each in values
        if isinstance(each, str | int)
    ]


def _tags(written: Any) -> dict[str, str]:
    """Return tags that are a map, a list of keys and values, or a list of keys."""
    if isinstance(written, Mapping):
        return dict(written)
    tags = {}
    for each in written:
        lower = (
            {name.lower().removeprefix("tag"): text for name, text in each.items()}
            if isinstance(each, Mapping)
            else {"key": each}
        )
        tags[lower["key"]] = lower.get("value", "")
    return tags

"""The faults of this process's embedded AWS, and which of them is for a call that arrives."""

import json
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from werkzeug import Request

from embedded_aws.admission import Caller
from embedded_aws.faults import Fault, Faults

faults = Faults()

_Parameters = Mapping[str, str]
_Derive = Callable[[Caller, _Parameters], _Parameters]
_derived: dict[tuple[str, str], _Derive] = {}


def derives_parameters(service: str, *operations: str) -> Callable[[_Derive], _Derive]:
    """Register the decorated function to add what follows from a call's parameters.

    Args:
        service: as requests are signed for it.
        operations: of the service.
    """

    def register(function: _Derive) -> _Derive:
        _derived.update({(service, operation): function for operation in operations})
        return function

    return register


def take_fault(request: Request, caller: Caller) -> Fault | None:
    """Return the fault for a request and count it, or None."""
    body = request.get_data()
    if target := request.headers.get("X-Amz-Target"):
        operation = target.rpartition(".")[2]
        parameters = {name: str(value) for name, value in json.loads(body or b"{}").items()}
    else:
        parameters = dict(parse_qsl(body.decode(errors="replace")))
        operation = parameters.get("Action", "")
    if derive := _derived.get((caller.service, operation)):
        parameters |= derive(caller, parameters)
    return faults.take(caller.service, operation, parameters, from_outside=True)

"""How EKS's calls are answered: one at a time, in pages, with EKS's refusals; and what comes later.

EKS API reference: the codes, and tokens of requests. Inferred: that arguments
are checked before anything else.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from moto.eks.responses import EKSResponse
from moto.eks.urls import url_paths

from embedded_aws.actions import Action, Call, Refusal, action, correction
from embedded_aws.clock import seconds_here
from embedded_aws.constraints import checks_arguments

checks_arguments("eks", "InvalidParameterException")

# Held by whoever reads or changes what EKS has: some of it changes by itself.
guard = threading.RLock()


@correction
def route_all() -> None:
    """Lead every path to moto's class, which has a URL for a few of them only."""
    url_paths["{0}/(?P<path>.+)$"] = EKSResponse.dispatch


def answers(*operations: str) -> Callable[[Action], Action]:
    """Register the decorated function as the answer to operations of EKS."""

    def register(function: Action) -> Action:
        def answer(call: Call) -> Any:
            with guard:
                return _once(call, function)

        action("eks", *operations)(answer)
        return function

    return register


def _once(call: Call, function: Action) -> Any:
    """Answer a creation that is repeated with its token as the first time."""
    token = call.params.get("clientRequestToken")
    if not token or not call.operation.startswith("Create"):
        return function(call)
    remembered = call.state("eks", "tokens", dict[tuple[str, str], tuple[Any, Any]])
    params, answer = remembered.get((call.operation, token), (None, None))
    if params == call.params:
        return answer
    answer = function(call)
    remembered[call.operation, token] = call.params, answer
    return answer


def later(seconds: float, act: Callable[[], None]) -> None:
    """Do something after a time of AWS's, by itself."""

    def act_alone() -> None:
        with guard:
            act()

    timer = threading.Timer(seconds_here(seconds), act_alone)
    timer.daemon = True
    timer.start()


def invalid(message: str) -> Refusal:
    """Return the refusal of an argument."""
    return Refusal("InvalidParameterException", message)


def invalid_request(message: str) -> Refusal:
    """Return the refusal of what cannot be done now."""
    return Refusal("InvalidRequestException", message)


def in_use(message: str) -> Refusal:
    """Return the refusal of a name that is taken, or of a change of what is used."""
    return Refusal("ResourceInUseException", message)


def not_found(message: str) -> Refusal:
    """Return the refusal of a name that nothing has."""
    return Refusal("ResourceNotFoundException", message)


def unsupported(what: str) -> Refusal:
    """Return the refusal of what the embedded AWS does not do.

    Args:
        what: for instance `Auto Mode`.
    """
    return Refusal("UnsupportedOperation", f"The embedded AWS does not support {what} of EKS")


def page(call: Call, member: str, items: Sequence[Any]) -> dict[str, Any]:
    """Return one page of a list.

    Raises:
        Refusal: the token is of no page.
    """
    token, most = call.params.get("nextToken", "0"), call.params.get("maxResults", 100)
    if not token.isdigit():
        raise invalid("The nextToken is invalid.")
    start = int(token)
    answer: dict[str, Any] = {member: list(items[start : start + most])}
    if start + most < len(items):
        answer["nextToken"] = str(start + most)
    return answer

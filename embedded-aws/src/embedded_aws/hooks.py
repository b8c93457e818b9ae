"""What services do beside answering calls: functions that they register for occasions.

A decorator registers a function when its module is imported, as it does with actions;
`services.load` imports every module of every service. So a function comes after those of the
modules that its own imports: things start in this order, and end in the reverse of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, ParamSpec

from werkzeug import Request

from embedded_aws.admission import Caller
from embedded_aws.settings import ServerSettings

_P = ParamSpec("_P")


class Hook(Generic[_P]):
    """An occasion, and the functions that are called at it."""

    def __init__(self, *, last_first: bool = False) -> None:
        self._functions: list[Callable[_P, None]] = []
        self._last_first = last_first

    def __call__(self, function: Callable[_P, None]) -> Callable[_P, None]:
        """Register the decorated function."""
        self._functions.append(function)
        return function

    def call(self, *args: _P.args, **kwargs: _P.kwargs) -> None:
        """Call every function."""
        for function in self._functions[:: -1 if self._last_first else 1]:
            function(*args, **kwargs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingProcess:
    """The process that answers requests.

    Attributes:
        settings: of the server, with its port.
        folder: for what this process and those it starts write; it goes away with them.
        lock: a file there; the server's end waits until nobody locks it, shared.
        answer: serves a connection: the socket, and the address of whom it is from.
    """

    settings: ServerSettings
    folder: Path
    lock: Path
    answer: Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceEvent:
    """An event that a service sends to EventBridge's default bus.

    Attributes:
        account: where it happened.
        region: where it happened.
        source: for instance `aws.ec2`.
        detail_type: for instance `EC2 Instance Rebalance Recommendation`.
        resources: ARNs of what it concerns.
        detail: of the event.
    """

    account: str
    region: str
    source: str
    detail_type: str
    resources: Sequence[str]
    detail: Mapping[str, Any]


# An account, by its id, comes into being in a region, by its code; perhaps once more.
when_account_made: Hook[[str, str]] = Hook()
# All is loaded of which the processes that answer requests are forks.
when_loaded: Hook[[]] = Hook()
# The process is about to answer requests.
when_serving: Hook[[ServingProcess]] = Hook()
# It answers no more.
when_stopping: Hook[[]] = Hook(last_first=True)
# A call is about to be answered; a RefusedCall that is raised answers it.
before_call: Hook[[Request, Caller]] = Hook()
# moto's instance has stopped or was terminated.
when_instance_ended: Hook[[Any]] = Hook(last_first=True)
# moto's instance is in another state.
when_instance_changed: Hook[[Any]] = Hook()
# The command that boots moto's instance has ended well.
when_instance_booted: Hook[[Any]] = Hook()
# A service sends an event.
when_event_sent: Hook[[ServiceEvent]] = Hook()
# A control has let time pass.
when_time_passed: Hook[[]] = Hook()
# Metrics of an account, by its id, in a region, by its code, are about to be read.
when_metrics_read: Hook[[str, str]] = Hook()
# EC2 has told moto's Spot Instance that it takes it back, or that it may.
when_spot_noticed: Hook[[Any]] = Hook()
# Prices of Spot Instances were set.
when_spot_price_set: Hook[[]] = Hook()
# Calls that failed on purpose may succeed now.
when_faults_changed: Hook[[]] = Hook()

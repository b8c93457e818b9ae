"""Faults on purpose: calls that an embedded AWS answers with an error, as a test asks for.

They are posted to the gateway's `/_embedded-aws/faults`, and forgotten by a reset.
"""

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from embedded_aws.errors import EmbeddedAwsError

FAULTS_PATH = "/_embedded-aws/faults"
# Not calls of AWS's: what a guest does by itself. See `docs/guests.md`.
GUESTS, OPEN_SSH = "guests", "OpenSsh"

# [S] EC2's API error codes: those of the client are 400, but for the ones named here; those of
# the server are 500 or 503, and SDKs repeat them.
_STATUS = {
    "AccessDenied": 403,
    "AccessDeniedException": 400,
    "UnauthorizedOperation": 403,
    "InsufficientInstanceCapacity": 500,
    "InternalError": 500,
    "InternalFailure": 500,
    "RequestLimitExceeded": 503,
    "ServiceUnavailable": 503,
    "Unavailable": 503,
}
_CLIENT_ERROR = 400


class FaultError(EmbeddedAwsError):
    """A fault was asked for that cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An error in place of an answer.

    Attributes:
        service: as requests are signed for it, for instance `ec2`; or `guests`.
        operation: for instance `RunInstances`; of guests `OpenSsh`.
        code: AWS's error code, for instance `InsufficientInstanceCapacity`.
        message: what the error says.
        count: how many calls fail; None for all.
        when: parameters that a failing call has, by the names in which the request is sent, for
            instance `{"InstanceType": "trn1.2xlarge"}`; `AvailabilityZone` is the zone in which
            RunInstances and CreateFleet would launch, however it was told.
    """

    service: str
    operation: str
    code: str = "InternalError"
    message: str = "A fault on purpose."
    count: int | None = 1
    when: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The HTTP status that AWS answers such a code with."""
        return _STATUS.get(self.code, _CLIENT_ERROR)


class Faults:
    """The faults that are still to come."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._left: list[tuple[Fault, int | None]] = []

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._left)

    def set(self, faults: Iterable[Fault]) -> None:
        """Replace all of them."""
        with self._guard:
            self._left = [(fault, fault.count) for fault in faults]

    def take(self, service: str, operation: str, parameters: Mapping[str, str]) -> Fault | None:
        """Return the fault that a call meets, which counts, or None."""
        with self._guard:
            for number, (fault, left) in enumerate(self._left):
                if (fault.service, fault.operation) != (service, operation):
                    continue
                if any(parameters.get(name) != value for name, value in fault.when.items()):
                    continue
                if left == 1:
                    del self._left[number]
                elif left is not None:
                    self._left[number] = fault, left - 1
                return fault
        return None


def to_json(faults: Iterable[Fault]) -> bytes:
    """Write faults as the gateway reads them."""
    return json.dumps([asdict(fault) for fault in faults]).encode()


def from_json(text: bytes) -> list[Fault]:
    """Read faults.

    Raises:
        FaultError: it is not a list of faults.
    """
    try:
        # JSON enters here.
        found: list[dict[str, Any]] = json.loads(text)
        faults = [Fault(**each) for each in found]
    except (ValueError, TypeError) as error:
        raise FaultError(f"this is not a list of faults: {error}") from error
    for fault in faults:
        if not isinstance(fault.when, Mapping):
            raise FaultError(f"a fault's when is an object of parameters, got {fault.when!r}")
        if fault.count is not None and not (type(fault.count) is int and fault.count >= 1):
            raise FaultError(f"a fault's count is a number from 1 or null, got {fault.count}")
    return faults

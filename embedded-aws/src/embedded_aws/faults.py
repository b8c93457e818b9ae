"""Faults on purpose: calls that an embedded AWS answers with an error, or late, for tests.

They are posted to the gateway's `/_embedded-aws/faults`, and forgotten by a reset.
"""

import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from embedded_aws.errors import EmbeddedAwsError, did_you_mean

FAULTS_PATH = "/_embedded-aws/faults"
# Any service, or any of its operations.
ANY = "*"

# Documented: EC2's API error codes: client errors are 400 except those listed here; server errors
# are 500 or 503, which SDKs retry.
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
_LATEST_SECONDS = 3600

# Services that moto has whose requests are signed for another name than boto3 calls them.
SIGNED_AS = {
    "elasticfilesystem": "efs",
    "elasticloadbalancing": "elbv2",
    "monitoring": "cloudwatch",
    "servicequotas": "service-quotas",
    "states": "stepfunctions",
    "tagging": "resourcegroupstaggingapi",
}
# What services do by themselves, by the names that their faults have.
_own: dict[str, tuple[str, ...]] = {}

# Protocols whose requests name their operation in the body or a header.
_PROTOCOLS = frozenset({"ec2", "json", "query"})


class FaultError(EmbeddedAwsError):
    """The requested fault is not possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An error in place of an answer, or a late answer.

    Attributes:
        service: as requests are signed for it, for instance `ec2`; or `guests`; `*` for every one.
        operation: for instance `RunInstances`; of guests `OpenSsh`; `*` for every one.
        code: AWS's error code, for instance `InsufficientInstanceCapacity`; empty for an answer
            that is only late.
        message: what the error says.
        seconds: after which the answer comes.
        count: how many calls fail; None for all.
        after: how many calls succeed before; of RunInstances by AWS Batch and Auto Scaling groups,
            which launch one instance by each, how many instances there is room for.
        when: parameters that a failing call has, by the names in which the request is sent, for
            instance `{"InstanceType": "trn1.2xlarge"}`; `AvailabilityZone` is the zone in which
            RunInstances and CreateFleet would launch, named or that of the subnet.
    """

    service: str
    operation: str
    code: str = "InternalError"
    message: str = "A fault on purpose."
    seconds: float = 0
    count: int | None = 1
    after: int = 0
    when: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The HTTP status with which AWS answers this code."""
        return _STATUS.get(self.code, _CLIENT_ERROR)


class Faults:
    """The faults that have not happened yet."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._left: list[Fault] = []

    def __bool__(self) -> bool:
        """Whether any is left."""
        return bool(self._left)

    def set(self, faults: Iterable[Fault]) -> None:
        """Replace all faults."""
        with self._guard:
            self._left = list(faults)

    def take(
        self,
        service: str,
        operation: str,
        parameters: Mapping[str, str],
        *,
        from_outside: bool = False,
    ) -> Fault | None:
        """Return the fault for a call and count it, or None.

        Args:
            service: as requests are signed for it.
            operation: of the service.
            parameters: of the call.
            from_outside: the call comes from a client, which may also wait for its answer, and is
                one of every service.
        """
        with self._guard:
            for number, fault in enumerate(self._left):
                if not from_outside and (ANY in (fault.service, fault.operation) or not fault.code):
                    continue
                if fault.service not in (service, ANY) or fault.operation not in (operation, ANY):
                    continue
                if any(parameters.get(name) != value for name, value in fault.when.items()):
                    continue
                if fault.after:
                    self._left[number] = replace(fault, after=fault.after - 1)
                    continue
                if fault.count == 1:
                    del self._left[number]
                elif fault.count is not None:
                    self._left[number] = replace(fault, count=fault.count - 1)
                return fault
        return None


def takes_faults(service: str, *operations: str) -> None:
    """Let faults be of what a service does by itself, which are no API calls.

    Args:
        service: its name in faults.
        operations: what it does.
    """
    _own[service] = operations


def from_json(found: object) -> list[Fault]:
    """Read faults from JSON.

    Raises:
        FaultError: it is not a list of faults.
    """
    if not isinstance(found, list):
        raise FaultError("this is not a list of faults; post [] for none")
    return [_fault(each) for each in found]


def _fault(found: object) -> Fault:
    """Check one fault, of which JSON gives no types."""
    if not (isinstance(found, dict) and {"service", "operation"} <= found.keys()):
        raise FaultError("each fault must be an object with service and operation")
    known = [each.name for each in fields(Fault)]
    for name in found:
        if name not in known:
            raise FaultError(f"a fault has no {name!r}{did_you_mean(name, known)}")
    for name in ("service", "operation", "code", "message"):
        text = found.get(name, "")
        if not (isinstance(text, str) and text.replace("\n", "").isprintable()):
            raise FaultError(f"a fault's {name} is a text of printable characters")
    fault = Fault(**found)
    # It is sent in a header, too.
    if not re.fullmatch("[!-~]*", fault.code):
        raise FaultError(f"the code of a fault must be one ASCII word, got {fault.code!r}")
    if not (
        isinstance(fault.when, dict) and all(isinstance(each, str) for each in fault.when.values())
    ):
        raise FaultError("when must be an object: parameters, each with a text")
    if not (type(fault.seconds) in (int, float) and 0 <= fault.seconds <= _LATEST_SECONDS):
        raise FaultError(f"seconds must be a number from 0 to {_LATEST_SECONDS}")
    if not (fault.code or fault.seconds):
        raise FaultError("give a code, or seconds after which the answer comes")
    if fault.service != ANY:
        _check_operation(fault.service, fault.operation)
    elif fault.operation != ANY:
        raise FaultError(f"a fault of every service must be of every operation: {ANY}")
    if fault.count is not None and not (type(fault.count) is int and fault.count >= 1):
        raise FaultError("count must be a number from 1, or null")
    if not (type(fault.after) is int and fault.after >= 0):
        raise FaultError("after must be a number from 0")
    return fault


def _check_operation(service: str, operation: str) -> None:
    """Refuse a fault that no call could meet."""
    known: Iterable[str] = _own.get(service, ())
    if service not in _own:
        model = _service_model(service)
        if operation == ANY:
            return
        if model.resolved_protocol not in _PROTOCOLS:
            raise FaultError(
                f"calls of {service} cannot fail on purpose: they name their operation in the "
                "path, which the embedded AWS does not read; choose a call of another service"
            )
        known = model.operation_names
    if operation not in known:
        raise FaultError(
            f"{service} has no operation {operation!r}{did_you_mean(operation, known)}"
        )


def _service_model(service: str) -> Any:
    # Imported here: tests that set faults do not need it.
    import botocore.session

    session = botocore.session.get_session()
    names = [*session.get_available_services(), *SIGNED_AS, *_own]
    signed_as = {name: signed for signed, name in SIGNED_AS.items()}.get(service)
    if service not in names or signed_as:
        hint = f"; did you mean {signed_as}?" if signed_as else did_you_mean(service, names)
        raise FaultError(f"no service's requests are signed for {service!r}{hint}")
    return session.get_service_model(SIGNED_AS.get(service, service))

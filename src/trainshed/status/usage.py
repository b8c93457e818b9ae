"""What the nodes of a cluster do now: each is asked by Run Command of Systems Manager.

Of every orchestrator: the role of our nodes lets their agents be reached (`NodeRole`).
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainshed.aws import AwsRefusal, Region

_DOCUMENT = "AWS-RunShellScript"
# In the AMI. An AMI that is older has none, and its shell says so with 127.
_PROGRAM, _NOT_FOUND = "trainshed-usage", 127
_SCRIPT = ['export PATH="/opt/trainshed:$PATH"', f"exec {_PROGRAM}"]
# Systems Manager API reference, SendCommand: "up to 50" ids; TimeoutSeconds, of the delivery, at
# least 30. What runs on a node longer is killed.
_AT_ONCE, _DELIVERY_SECONDS, _RUN_SECONDS = 50, 30, "120"
# The program takes a second, and gives a tool ten.
_PATIENCE_SECONDS, _PAUSE_SECONDS = 20.0, 0.5
_WAITS = ("Pending", "InProgress", "Delayed")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorUsage:
    """What an accelerator does; None where its maker's tool does not say.

    Attributes:
        index: its number.
        busy_percent: of the time it computed.
        used_mib: of its memory.
        total_mib: of its memory.
        celsius: its temperature.
        watts: its power.
        errors: uncorrectable errors of its memory: of Neuron in a second, of others since it was
            reset.
    """

    index: int
    busy_percent: float | None
    used_mib: float | None
    total_mib: float | None
    celsius: float | None
    watts: float | None
    errors: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EfaUsage:
    """What all EFA devices of a node do together.

    Attributes:
        devices: how many there are.
        sent_per_second: bytes.
        received_per_second: bytes.
        dropped: packets, while it was looked at.
        retransmitted: packets, meanwhile.
        timeouts: of retransmissions, meanwhile.
        faults: peers that lost too much or did not answer, meanwhile.
    """

    devices: int
    sent_per_second: float
    received_per_second: float
    dropped: int
    retransmitted: int
    timeouts: int
    faults: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeUsage:
    """What a node does.

    Attributes:
        instance_id: of its instance.
        accelerators: of the node.
        efa: of its EFA devices; None when it, or one of them, does not answer.
        load: processes that run or wait, on average of a minute.
        cpus: processors.
        memory_used_mib: of its own memory.
        memory_total_mib: of its own memory.
        problem: why it, or a tool or device on it, does not answer; empty when all is well.
    """

    instance_id: str
    accelerators: tuple[AcceleratorUsage, ...] = ()
    efa: EfaUsage | None = None
    load: float | None = None
    cpus: int | None = None
    memory_used_mib: int | None = None
    memory_total_mib: int | None = None
    problem: str = ""


class UsageAsker:
    """Asks nodes again and again; those whose last answer is due are not asked once more.

    Args:
        region: the cluster's.
    """

    def __init__(self, region: Region) -> None:
        self._region = region
        # Ids of commands that nodes have not ended.
        self._due: dict[str, str] = {}

    def ask(self, instance_ids: Sequence[str]) -> tuple[NodeUsage, ...]:
        """Ask nodes, and wait for a while; return what each says, in their order.

        Raises:
            AwsRefusal: the credentials may not send commands, or look at them.
        """
        there = self._online()
        wanted = [each for each in instance_ids if each in there]
        told = dict(self._gather(self._due)) if self._due else {}
        free = [each for each in wanted if each not in self._due]
        for start in range(0, len(free), _AT_ONCE):
            self._send(free[start : start + _AT_ONCE])
        last = time.monotonic() + _PATIENCE_SECONDS
        while True:
            told |= dict(self._gather(self._due))
            if not any(each in self._due for each in wanted) or time.monotonic() > last:
                break
            time.sleep(_PAUSE_SECONDS)
        return tuple(
            told.get(each)
            or NodeUsage(
                instance_id=each,
                problem=f"does not answer within {_PATIENCE_SECONDS:.0f} seconds"
                if each in there
                else "Systems Manager does not reach its agent",
            )
            for each in instance_ids
        )

    def _online(self) -> frozenset[str]:
        found = self._region.pages(
            "ssm", "describe_instance_information", "InstanceInformationList"
        )
        return frozenset(each["InstanceId"] for each in found if each["PingStatus"] == "Online")

    def _send(self, instance_ids: Sequence[str]) -> None:
        try:
            sent = self._region.call(
                "ssm",
                "send_command",
                DocumentName=_DOCUMENT,
                InstanceIds=list(instance_ids),
                Parameters={"commands": _SCRIPT, "executionTimeout": [_RUN_SECONDS]},
                Comment="trainshed top",
                TimeoutSeconds=_DELIVERY_SECONDS,
                # By default it stops when a node fails.
                MaxErrors="100%",
            )
        except AwsRefusal as error:
            # One of them has ended a moment ago: the next look goes without it.
            if error.code != "InvalidInstanceId":
                raise
            return
        self._due |= dict.fromkeys(instance_ids, str(sent["Command"]["CommandId"]))

    def _gather(self, due: Mapping[str, str]) -> Iterator[tuple[str, NodeUsage]]:
        """Yield what nodes have answered, which are no longer due."""
        for command in sorted({*due.values()}):
            for each in self._region.pages(
                "ssm",
                "list_command_invocations",
                "CommandInvocations",
                CommandId=command,
                Details=True,
            ):
                instance_id = each["InstanceId"]
                if each["Status"] not in _WAITS and self._due.get(instance_id) == command:
                    del self._due[instance_id]
                    yield instance_id, _read(each)


def _read(invocation: Mapping[str, Any]) -> NodeUsage:
    instance_id = invocation["InstanceId"]
    [step] = invocation.get("CommandPlugins") or [{}]
    if step.get("ResponseCode") == _NOT_FOUND:
        problem = f"its AMI has no {_PROGRAM}; bake and publish one, and replace the node"
        return NodeUsage(instance_id=instance_id, problem=problem)
    if invocation["Status"] != "Success":
        details = invocation.get("StatusDetails") or invocation["Status"]
        return NodeUsage(instance_id=instance_id, problem=f"its command ended with {details}")
    try:
        return _usage(instance_id, json.loads(step["Output"]))
    except (KeyError, TypeError, ValueError):
        return NodeUsage(instance_id=instance_id, problem=f"{_PROGRAM} printed something else")


def _usage(instance_id: str, said: Mapping[str, Any]) -> NodeUsage:
    efa = said["efa"]
    used, total = said["memory"]
    return NodeUsage(
        instance_id=instance_id,
        accelerators=tuple(_accelerators(said["accelerators"])),
        efa=_efa(efa, said["seconds"]) if efa else None,
        load=said["load"],
        cpus=said["cpus"],
        memory_used_mib=used,
        memory_total_mib=total,
        problem=said["problem"],
    )


def _efa(said: Mapping[str, int], seconds: float) -> EfaUsage:
    return EfaUsage(
        devices=said["devices"],
        sent_per_second=said["sent"] / seconds,
        received_per_second=said["received"] / seconds,
        dropped=said["dropped"],
        retransmitted=said["retransmitted"],
        timeouts=said["timeouts"],
        faults=said["faults"],
    )


def _accelerators(rows: Iterable[Sequence[Any]]) -> Iterator[AcceleratorUsage]:
    for index, busy, used, total, celsius, watts, errors in rows:
        yield AcceleratorUsage(
            index=index,
            busy_percent=busy,
            used_mib=used,
            total_mib=total,
            celsius=celsius,
            watts=watts,
            errors=errors,
        )

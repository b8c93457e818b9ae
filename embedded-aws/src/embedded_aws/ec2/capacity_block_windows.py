"""The beginning and the end of Capacity Blocks: on AWS at their times, here also by a control.

EC2 user guide, "Monitor Capacity Blocks using EventBridge": an event at the beginning; forty
minutes before the end another, which says that EC2 begins to end the instances in ten; and one for
each instance that it ends. No metadata of an instance are documented to tell of it. Inferred: the
event of an instance comes when it is ended, as its example has the same time twice; and the reason
of its state. The ten minutes pass as other waits of AWS do.
"""

import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from moto.backends import get_backend
from werkzeug import Request, Response

from embedded_aws.actions import Row
from embedded_aws.clock import seconds_here
from embedded_aws.controls import CAPACITY_BLOCKS_PATH
from embedded_aws.ec2.held_capacity import BLOCK_ENDS_EARLY, ENDED
from embedded_aws.ec2.instance_events import publish, publish_state
from embedded_aws.ec2.machines import machines, say_why
from embedded_aws.ec2.zones import zone_of
from embedded_aws.hooks import ServiceEvent, when_event_sent
from embedded_aws.offered_controls import ControlError, control, posted
from embedded_aws.settings import ServerSettings

_WARNED_SECONDS = 600
_LONGEST = 3600
_TIME = "%Y-%m-%dT%H:%M:%SZ"


def _begin(backend: Any, block: Row) -> None:
    """Have a block begin now, and tell all who hear of it."""
    block["StartDate"] = datetime.now(UTC)
    _publish(backend, block, "Capacity Block Delivered")


def _end(backend: Any, block: Row, seconds: float) -> None:
    """Warn all who hear of it that a block ends, and end its instances later."""
    block["EndDate"] = datetime.now(UTC) + timedelta(seconds=seconds) + BLOCK_ENDS_EARLY
    _publish(backend, block, "Capacity Block Expiration Warning")
    timer = threading.Timer(seconds, _end_instances, [backend, block])
    timer.daemon = True
    timer.start()


def _end_instances(backend: Any, block: Row) -> None:
    """Terminate the instances of a block, unless the embedded AWS was reset."""
    if block not in _table(backend, "capacity_reservations").values():
        return
    members = _table(backend, "capacity_reservation_members")
    for instance in backend.all_instances():
        own = members.get(instance.id) == block["CapacityReservationId"]
        if not own or instance.state == "terminated":
            continue
        zone = zone_of(backend.region_name, block["AvailabilityZone"])
        assert zone
        publish(
            instance,
            "EC2 Capacity Reservation Instance Interruption Warning",
            {
                "instance-action": "terminate",
                "instance-termination-time": f"{datetime.now(UTC):{_TIME}}",
                "availability-zone-id": zone[1],
                "instance-lifecycle": "capacity-block",
            },
        )
        instance.terminate()
        say_why(
            instance,
            "Server.CapacityBlockEnded",
            "The instance was terminated because its Capacity Block ends",
        )
        machines().remove(instance)
        publish_state(instance, "terminated")


def _publish(backend: Any, block: Row, detail_type: str) -> None:
    when_event_sent.call(
        ServiceEvent(
            account=backend.account_id,
            region=backend.region_name,
            source="aws.ec2",
            detail_type=detail_type,
            resources=[block["CapacityReservationArn"]],
            detail={
                "capacity-reservation-id": block["CapacityReservationId"],
                "end-date": f"{block['EndDate']:{_TIME}}",
            },
        )
    )


def _table(backend: Any, name: str) -> Mapping[str, Any]:
    """Return a table of `tables`, which a control, without a call, finds at moto's backend."""
    found: Mapping[str, Any] = backend.__dict__.get(f"embedded_aws_{name}", {})
    return found


@control("POST", CAPACITY_BLOCKS_PATH)
def _begin_and_end(request: Request, settings: ServerSettings) -> Response:
    found = posted(request)
    if not isinstance(found, list):
        raise ControlError("this is not a list of beginnings and ends of Capacity Blocks")
    windows = [_read(each, settings) for each in found]
    for backend, block, seconds in windows:
        if seconds is None:
            _begin(backend, block)
        else:
            _end(backend, block, seconds)
    return Response(status=HTTPStatus.NO_CONTENT)


def _read(found: object, settings: ServerSettings) -> tuple[Any, Row, float | None]:
    """Return the backend of a block, it, and in how many seconds its instances end, if they do.

    Raises:
        ControlError: it is neither a beginning nor an end, or there is no such block.
    """
    needed = {"block", "window"}
    if not (isinstance(found, Mapping) and needed <= found.keys() <= needed | {"seconds"}):
        raise ControlError("each of them must be an object with block and window")
    if found["window"] not in ("begins", "ends"):
        raise ControlError("the window of a block begins or ends")
    ends, seconds = found["window"] == "ends", found.get("seconds")
    if seconds is not None and not (
        ends and type(seconds) in (int, float) and 0 <= seconds <= _LONGEST
    ):
        raise ControlError(f"seconds are for a window that ends, a number from 0 to {_LONGEST}")
    backend, block = _block(found["block"], settings)
    now = datetime.now(UTC)
    if block["State"] in ENDED or block["EndDate"] <= now:
        raise ControlError(f"{found['block']} is over")
    if ends and block["StartDate"] > now:
        raise ControlError(f"{found['block']} has not begun")
    if not ends and block["StartDate"] <= now:
        raise ControlError(f"{found['block']} has begun")
    if ends and seconds is None:
        seconds = seconds_here(_WARNED_SECONDS)
    return backend, block, seconds


def _block(block_id: object, settings: ServerSettings) -> tuple[Any, Row]:
    for account in settings.accounts:
        for region in settings.regions:
            backend = get_backend("ec2")[account][region]
            block = _table(backend, "capacity_reservations").get(str(block_id))
            if block and block["ReservationType"] == "capacity-block":
                return backend, block
    raise ControlError(f"there is no Capacity Block {block_id!r}")

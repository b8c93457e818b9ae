"""EC2's notices to Spot Instances, and their end: on AWS by EC2's choice, here by a control.

EC2 user guide, "Spot Instance interruption notices": two minutes before the end there is an event,
and `spot/instance-action` in the metadata; "EC2 instance rebalance recommendations": an event, and
`events/recommendations/rebalance`, before it or with it. The reason of the end is
`Server.SpotInstanceTermination`. The two minutes pass as other waits of AWS do; the metadata have
the time of this machine at which the instance ends. What an AMI makes of the metadata, a plug-in
says.
"""

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from moto.backends import get_backend
from werkzeug import Request, Response

from embedded_aws.clock import seconds_here
from embedded_aws.controls import SPOT_NOTICES_PATH
from embedded_aws.ec2.instance_events import publish, publish_state
from embedded_aws.ec2.machines import machines, say_why
from embedded_aws.ec2.spot_prices import price_now
from embedded_aws.ec2.spot_requests import request_of, tell
from embedded_aws.ec2.zones import zone_of
from embedded_aws.hooks import when_spot_noticed, when_spot_price_set
from embedded_aws.hosts.service import hosts
from embedded_aws.offered_controls import ControlError, control, posted
from embedded_aws.plugins import SpotNotice, find_for_ami
from embedded_aws.settings import ServerSettings

_NOTICE_SECONDS = 120
_LONGEST = 3600
_NO_CAPACITY, _BY_PRICE = "instance-terminated-no-capacity", "instance-terminated-by-price"
_NOTICE = "embedded_aws_spot_notice"


def notice_of(instance: Any) -> SpotNotice:
    """Return what the metadata of moto's instance say of its end."""
    found: SpotNotice = instance.__dict__.get(_NOTICE, SpotNotice())
    return found


def recommend_rebalance(instance: Any) -> None:
    """Tell moto's instance, and all who hear of it, that it may be taken back."""
    _note(instance, replace(notice_of(instance), rebalance=datetime.now(UTC)))
    publish(instance, "EC2 Instance Rebalance Recommendation", {})
    when_spot_noticed.call(instance)


def interrupt(instance: Any, code: str = _NO_CAPACITY, *, seconds: float | None = None) -> None:
    """Tell moto's instance, and all who hear of it, that it ends in two minutes, and end it then.

    Args:
        instance: moto's.
        code: why, as the status of its request will say.
        seconds: of this machine until the end; by default what two minutes of AWS's are here.
    """
    if notice_of(instance).terminate:
        return
    seconds = seconds_here(_NOTICE_SECONDS) if seconds is None else seconds
    end = datetime.now(UTC) + timedelta(seconds=seconds)
    _note(instance, replace(notice_of(instance), terminate=end))
    tell(instance, "marked-for-termination", "active")
    publish(instance, "EC2 Spot Instance Interruption Warning", {"instance-action": "terminate"})
    timer = threading.Timer(seconds, _end, [instance, code])
    timer.daemon = True
    timer.start()
    when_spot_noticed.call(instance)


def _end(instance: Any, code: str) -> None:
    """Terminate an instance, unless somebody did, or the embedded AWS was reset."""
    backend = instance.ec2_backend
    there = get_backend("ec2")[backend.account_id][backend.region_name].all_instances()
    if instance.state == "terminated" or instance not in there:
        return
    tell(instance, code, "closed")
    instance.terminate()
    say_why(
        instance,
        "Server.SpotInstanceTermination",
        "A Spot Instance was terminated due to an increase in the Spot price"
        if code == _BY_PRICE
        else "A Spot Instance was terminated because there is no Spot capacity available",
    )
    machines().remove(instance)
    publish_state(instance, "terminated")


def _note(instance: Any, notice: SpotNotice) -> None:
    """Remember a notice, and write the file that the AMI of moto's instance writes then."""
    instance.__dict__[_NOTICE] = notice
    written = find_for_ami(instance, lambda plugin: plugin.spot_notice_files())
    running = hosts()
    if written is None or running is None:
        return
    path, text = written
    file = running.disk(instance) / "root" / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}")
    unfinished.write_text(text(notice), encoding="utf-8")
    unfinished.replace(file)


@when_spot_price_set
def _take_what_may_cost_less() -> None:
    """Interrupt the instances whose maximum price is below that of today."""
    for regions in get_backend("ec2").values():
        for backend in regions.values():
            for instance in backend.all_instances():
                request = request_of(instance)
                if not (request and instance.state == "running"):
                    continue
                zone = zone_of(backend.region_name, request["LaunchedAvailabilityZone"])
                assert zone
                price = price_now(
                    backend.account_id, backend.region_name, instance.instance_type, zone[1]
                )
                if "SpotPrice" in request and float(request["SpotPrice"]) < price:
                    interrupt(instance, _BY_PRICE)


@control("POST", SPOT_NOTICES_PATH)
def _give_notices(request: Request, settings: ServerSettings) -> Response:
    found = posted(request)
    if not isinstance(found, list):
        raise ControlError("this is not a list of notices")
    notices = [_read(each, settings) for each in found]
    for instance, notice, seconds in notices:
        if notice == "interruption":
            interrupt(instance, seconds=seconds)
        else:
            recommend_rebalance(instance)
    return Response(status=HTTPStatus.NO_CONTENT)


def _read(found: object, settings: ServerSettings) -> tuple[Any, str, float | None]:
    """Return the instance, the kind and the time of a notice.

    Raises:
        ControlError: it is none, or of no Spot Instance that runs.
    """
    needed = {"instance", "notice"}
    if not (isinstance(found, Mapping) and needed <= found.keys() <= needed | {"seconds"}):
        raise ControlError("each notice must be an object with instance and notice")
    if found["notice"] not in ("interruption", "rebalance"):
        raise ControlError("a notice is interruption or rebalance")
    seconds = found.get("seconds")
    if seconds is not None and not (type(seconds) in (int, float) and 0 <= seconds <= _LONGEST):
        raise ControlError(f"seconds must be a number from 0 to {_LONGEST}")
    for account in settings.accounts:
        for region in settings.regions:
            for instance in get_backend("ec2")[account][region].all_instances():
                if instance.id == found["instance"] and instance.state == "running":
                    if request_of(instance) is None:
                        raise ControlError(f"{instance.id} is not a Spot Instance")
                    return instance, found["notice"], seconds
    raise ControlError(f"there is no running instance {found['instance']!r}")

"""Spot requests of RunInstances: what EC2 refuses of them, and how each goes on.

EC2 user guide, "Spot request status": the codes, and the states to which they belong. EC2 API
reference, SpotMarketOptions: a price must be more than 0.001; a persistent request needs another
interruption behaviour than to terminate. From public issues: `SpotMaxPriceTooLow` and its words.
Inferred: the other words. There is always capacity; requests here are of instances that end when
they are interrupted, and RequestSpotInstances is moto's.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row, action
from embedded_aws.ec2 import tables
from embedded_aws.ec2.refusals import invalid_combination, invalid_value
from embedded_aws.ec2.spot_prices import price_now
from embedded_aws.ec2.tags import select, tags_of
from embedded_aws.ec2.zones import zone_of
from embedded_aws.hooks import when_instance_ended

_LOWEST = 0.001
_FILTERS = {
    "state": "State",
    "status-code": "StatusCode",
    "spot-instance-request-id": "SpotInstanceRequestId",
    "instance-id": "InstanceId",
    "type": "Type",
}
_MESSAGES = {
    "fulfilled": "Your spot request is fulfilled.",
    "marked-for-termination": "The Spot Instance is marked for termination.",
    "instance-terminated-by-price": "Your Spot Instance was terminated because the Spot price "
    "exceeded your maximum price.",
    "instance-terminated-no-capacity": "Your Spot Instance was terminated because there is no "
    "longer enough Spot capacity available for the instance.",
    "instance-terminated-by-user": "Your Spot Instance was terminated by a user.",
    "request-canceled-and-instance-running": "You canceled the Spot request while the Spot "
    "Instance was still running.",
}
# moto's instances know their requests by this attribute, and show it.
_REQUEST = "spot_instance_request_id"


def check(call: Call, data: Any, instance_type: str, zone: str) -> None:
    """Refuse a launch on Spot that EC2 refuses.

    Args:
        call: the launch.
        data: as a launch template holds it.
        instance_type: for instance `trn1.32xlarge`.
        zone: name of the zone.

    Raises:
        Refusal: as EC2 does.
    """
    options = _options(data)
    if options is None:
        return
    ends = options.get("InstanceInterruptionBehavior", "terminate") == "terminate"
    if options.get("SpotInstanceType") == "persistent" and ends:
        raise invalid_combination(
            "Persistent Spot requests are supported only when the instance interruption behavior "
            "is stop or hibernate."
        )
    most = options.get("MaxPrice")
    if most is None:
        return
    if float(most) <= _LOWEST:
        raise invalid_value(f"Invalid value '{most}' for MaxPrice: it must be more than {_LOWEST}.")
    found = zone_of(call.region, zone)
    price = price_now(call.account, call.region, instance_type, found[1]) if found else 0
    if float(most) < price:
        raise Refusal(
            "SpotMaxPriceTooLow",
            f"Your Spot request price of {most} is lower than the minimum required Spot request "
            f"fulfillment price of {price:g}.",
        )


def fulfil(call: Call, data: Any, instances: Iterable[Any]) -> None:
    """Record the requests of instances that were launched on Spot.

    Args:
        call: the launch.
        data: as a launch template holds it.
        instances: moto's.
    """
    options = _options(data)
    if options is None:
        return
    for instance in instances:
        request_id = f"sir-{mock_random.get_random_hex(8)}"
        request: Row = {
            "SpotInstanceRequestId": request_id,
            "CreateTime": datetime.now(UTC),
            "InstanceId": instance.id,
            "InstanceInterruptionBehavior": "terminate",
            "LaunchSpecification": {
                "ImageId": instance.image_id,
                "InstanceType": instance.instance_type,
                "SubnetId": instance.subnet_id,
            },
            "LaunchedAvailabilityZone": instance.placement.zone,
            "ProductDescription": "Linux/UNIX",
            "Type": options.get("SpotInstanceType", "one-time"),
            **({"SpotPrice": options["MaxPrice"]} if "MaxPrice" in options else {}),
        }
        tables.spot_requests(call)[request_id] = request
        instance.__dict__["embedded_aws_spot_request"] = request
        setattr(instance, _REQUEST, request_id)
        tell(instance, "fulfilled", "active")


def request_of(instance: Any) -> Row | None:
    """Return the request of moto's instance; None for one that is not on Spot."""
    request: Row | None = instance.__dict__.get("embedded_aws_spot_request")
    return request


def tell(instance: Any, code: str, state: str) -> None:
    """Note how the request of moto's instance goes on.

    Args:
        instance: moto's.
        code: of the status.
        state: of the request.
    """
    if request := request_of(instance):
        now = datetime.now(UTC)
        request["State"] = state
        request["Status"] = {"Code": code, "Message": _MESSAGES[code], "UpdateTime": now}
        request["StatusCode"] = code


@when_instance_ended
def _close(instance: Any) -> None:
    request = request_of(instance)
    if request and instance.state == "terminated" and request["State"] == "active":
        tell(instance, "instance-terminated-by-user", "closed")


@action("ec2", "DescribeSpotInstanceRequests")
def describe_spot_instance_requests(call: Call) -> Any:
    """List the requests of RunInstances; moto answers where only its own ones are meant."""
    ids = call.params.get("SpotInstanceRequestIds", [])
    known = tables.spot_requests(call)
    if call.backend("ec2").spot_instance_requests and known.keys().isdisjoint(ids or known):
        return call.moto()
    if missing := [each for each in ids if each not in known]:
        raise _unknown(missing[0])
    rows = [
        {**row, "Tags": tags_of(call, row["SpotInstanceRequestId"])}
        for row in known.values()
        if not ids or row["SpotInstanceRequestId"] in ids
    ]
    return {"SpotInstanceRequests": select(call, rows, _FILTERS)}


@action("ec2", "CancelSpotInstanceRequests")
def cancel_spot_instance_requests(call: Call) -> Any:
    """Cancel requests; their instances go on."""
    known = tables.spot_requests(call)
    ids = call.params["SpotInstanceRequestIds"]
    if any(each in call.backend("ec2").spot_instance_requests for each in ids):
        return call.moto()
    if missing := [each for each in ids if each not in known]:
        raise _unknown(missing[0])
    call.dry_run()
    for each in ids:
        instance = call.backend("ec2").get_instance(known[each]["InstanceId"])
        if known[each]["State"] == "active":
            tell(instance, "request-canceled-and-instance-running", "cancelled")
    return {
        "CancelledSpotInstanceRequests": [
            {"SpotInstanceRequestId": each, "State": known[each]["State"]} for each in ids
        ]
    }


def _options(data: Any) -> Row | None:
    """Return the options of a launch on Spot; None for another launch."""
    market = data.get("InstanceMarketOptions", {})
    return market.get("SpotOptions", {}) if market.get("MarketType") == "spot" else None


def _unknown(request_id: str) -> Refusal:
    return Refusal(
        "InvalidSpotInstanceRequestID.NotFound",
        f"The spot instance request ID '{request_id}' does not exist",
    )

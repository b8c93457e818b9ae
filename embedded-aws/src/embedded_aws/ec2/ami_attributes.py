"""Attributes that owners change later: deprecation, protection, description, IMDS support.

EC2 API reference: a deprecation lies in the future, at most ten years away; an AMI may be protected
against deregistration; ending the protection may take a cooldown of 24 hours. Inferred: the words
of the refusals.
"""

from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Call, Refusal, action, existing

_FURTHEST_YEARS = 10


@action("ec2", "EnableImageDeprecation")
def enable_image_deprecation(call: Call) -> dict[str, Any]:
    """Set the time from which an AMI is deprecated; it stays usable."""
    ami, moment = own_ami(call), call.params["DeprecateAt"]
    now = datetime.now(UTC)
    if not now < moment < now.replace(year=now.year + _FURTHEST_YEARS):
        raise Refusal(
            "InvalidParameterValue",
            f"The DeprecateAt time {moment.isoformat()} must be in the future and at most "
            f"{_FURTHEST_YEARS} years away.",
        )
    call.dry_run()
    # Documented: EC2 keeps minutes.
    ami.deprecation_time = moment.strftime("%Y-%m-%dT%H:%M:00.000Z")
    return {"Return": True}


@action("ec2", "DisableImageDeprecation")
def disable_image_deprecation(call: Call) -> dict[str, Any]:
    """Remove a deprecation."""
    ami = own_ami(call)
    call.dry_run()
    ami.deprecation_time = None
    return {"Return": True}


@action("ec2", "EnableImageDeregistrationProtection")
def enable_image_deregistration_protection(call: Call) -> dict[str, Any]:
    """Protect an AMI from DeregisterImage."""
    ami = own_ami(call)
    call.dry_run()
    with_cooldown = call.params.get("WithCooldown")
    ami.deregistration_protection = (
        "enabled-with-cooldown" if with_cooldown else "enabled-without-cooldown"
    )
    return {"Return": ami.deregistration_protection}


@action("ec2", "DisableImageDeregistrationProtection")
def disable_image_deregistration_protection(call: Call) -> dict[str, Any]:
    """Remove the protection; one with a cooldown lasts 24 hours more."""
    ami = own_ami(call)
    call.dry_run()
    before = getattr(ami, "deregistration_protection", "disabled")
    cooling = before == "enabled-with-cooldown"
    ami.deregistration_protection = "disabled-until-cooldown" if cooling else "disabled"
    return {"Return": ami.deregistration_protection}


@action("ec2", "ModifyImageAttribute")
def modify_image_attribute(call: Call) -> Any:
    """Change description and IMDS support here, launch permissions in moto."""
    ami, params = own_ami(call), call.params
    attribute, value = params.get("Attribute"), params.get("Value")
    described = params.get("Description", {}).get("Value")
    supports = params.get("ImdsSupport", {}).get("Value")
    call.dry_run()
    if (text := value if attribute == "description" else described) is not None:
        ami.description = text
    if support := value if attribute == "imdsSupport" else supports:
        if support != "v2.0":
            raise Refusal("InvalidParameterValue", f"Value ({support}) for imdsSupport is invalid.")
        ami.imds_support = support
    return call.moto()


@action("ec2", "DescribeSnapshots")
def describe_snapshots(call: Call) -> Any:
    """Answer with the snapshots of the owners asked for; moto answers with everybody's."""
    answer = call.moto()
    if owners := call.params.get("OwnerIds"):
        wanted = {call.account if owner == "self" else owner for owner in owners}
        answer.result["Snapshots"] = [
            each for each in answer.result["Snapshots"] if each.owner_id in wanted
        ]
    return answer


def find_ami(ec2: Any, ami_id: str) -> Any:
    """Return an AMI of moto's backend of EC2.

    Raises:
        Refusal: there is none.
    """
    message = f"The image id '[{ami_id}]' does not exist"
    return existing(ec2.amis.get(ami_id), "InvalidAMIID.NotFound", message)


def check_available(ami: Any) -> None:
    """Refuse an AMI that is pending or failed.

    Raises:
        Refusal: it is not available.
    """
    if ami.state != "available":
        raise Refusal("InvalidAMIID.Unavailable", f"The image '{ami.id}' is {ami.state}.")


def own_ami(call: Call) -> Any:
    """Return the AMI that a call names, which must be the account's own.

    Raises:
        Refusal: there is none, or another account owns it.
    """
    ami_id = call.params["ImageId"]
    ami = find_ami(call.backend("ec2"), ami_id)
    if ami.owner_id != call.account:
        raise Refusal("AuthFailure", f"Not authorized for images: [{ami_id}]")
    return ami

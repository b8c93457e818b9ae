"""What a group may be: what of a request the embedded AWS does, and what AWS refuses.

The words of refusals: as many projects' logs show them, of sizes and launch templates. From memory:
of what is missing. Inferred: of subnets.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Call, Refusal, Row
from embedded_aws.autoscaling import launches
from embedded_aws.autoscaling.mixed_instances import (
    POLICY,
    check_policy,
    template_of,
    with_template,
)
from embedded_aws.autoscaling.refusals import bad_template, invalid, unsupported
from embedded_aws.autoscaling.termination import check_policies
from embedded_aws.ec2.launch_templates import template_data
from embedded_aws.ec2.subnets import subnet_of

# What a group may have beside its name and tags. Cooldown, warm-up and grace period have no effect:
# they are for scaling policies and for other health checks, which are not there.
DEFAULTS: Mapping[str, Any] = {
    "DefaultCooldown": 300,
    "HealthCheckGracePeriod": 0,
    "HealthCheckType": "EC2",
    "NewInstancesProtectedFromScaleIn": False,
    "TerminationPolicies": ["Default"],
}
_OTHERS = (
    *("AvailabilityZones", "CapacityRebalance", "Context", "DefaultInstanceWarmup"),
    "DesiredCapacity",
    *("LaunchTemplate", "MaxSize", "MinSize", POLICY, "PlacementGroup"),
    *("ServiceLinkedRoleARN", "SkipZonalShiftValidation", "VPCZoneIdentifier"),
)
_ONE_OF = (
    "Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or "
    "MixedInstancesPolicy parameter."
)
# The only values of these, beside none, with which nothing else happens than without them.
_NEUTRAL: Mapping[str, Any] = {
    "DeletionProtection": "none",
    "DesiredCapacityType": "units",
    "HealthCheckType": "EC2",
    "MaxInstanceLifetime": 0,
}


def settings_of(call: Call, given: Row) -> Row:
    """Return what a request sets of a group.

    Raises:
        Refusal: the embedded AWS does not do something of it, or AWS would not.
    """
    for name, value in given.items():
        if name in _NEUTRAL and value != _NEUTRAL[name]:
            raise unsupported(f"{name} {value}")
        if value and name not in (*DEFAULTS, *_OTHERS, *_NEUTRAL):
            raise unsupported(name)
    check_policies(given.get("TerminationPolicies", []))
    fields = dict(given)
    if given.get("LaunchTemplate") and given.get(POLICY):
        raise invalid(_ONE_OF)
    if template := given.get("LaunchTemplate"):
        fields["LaunchTemplate"] = _with_both_names(call, template)
    if policy := given.get(POLICY):
        template = _with_both_names(call, template_of({POLICY: policy}))
        fields[POLICY] = with_template(policy, template)
        check_policy(call, policy)
    return {**fields, **_places(call, given)}


def _places(call: Call, given: Row) -> Row:
    """Return the subnets and zones of a request that names any."""
    if subnets := given.get("VPCZoneIdentifier"):
        try:
            found = [subnet_of(call, each.strip()) for each in subnets.split(",")]
        except Refusal as error:
            raise invalid(error.message) from error
    elif zones := given.get("AvailabilityZones"):
        defaults = call.backend("ec2").get_default_subnets()
        if missing := [zone for zone in zones if zone not in defaults]:
            raise invalid(f"No default subnet for availability zone: '{missing[0]}'.")
        found = [defaults[zone] for zone in zones]
    else:
        return {}
    in_zones = sorted({subnet.availability_zone for subnet in found})
    if given.get("AvailabilityZones") and in_zones != sorted(given["AvailabilityZones"]):
        raise invalid(
            "The availability zones of the specified subnets and the Auto Scaling group do not "
            "match"
        )
    return {
        "VPCZoneIdentifier": ",".join(subnet.id for subnet in found),
        "AvailabilityZones": in_zones,
    }


def _with_both_names(call: Call, template: Row) -> Row:
    """Return a launch template's specification with id and name, as Describe actions show it."""
    named = [name for name in ("LaunchTemplateId", "LaunchTemplateName") if name in template]
    if len(named) != 1:
        raise invalid("Valid requests must contain either launchTemplateId or LaunchTemplateName")
    try:
        template_data(call, template)
    except Refusal as error:
        raise bad_template(error.message) from error
    ec2 = call.backend("ec2")
    template_id = template.get("LaunchTemplateId") or ec2.launch_template_name_to_ids.get(
        template.get("LaunchTemplateName")
    )
    name = ec2.launch_templates[template_id].name
    return {**template, "LaunchTemplateId": template_id, "LaunchTemplateName": name}


def check_group(call: Call, fields: Row) -> None:
    """Refuse what a group must not be.

    Raises:
        Refusal: as AWS does.
    """
    if "LaunchTemplate" not in fields and POLICY not in fields:
        raise invalid(_ONE_OF)
    if not fields.get("VPCZoneIdentifier"):
        raise invalid("At least one Availability Zone or VPC Subnet is required.")
    low, high, desired = fields["MinSize"], fields["MaxSize"], fields["DesiredCapacity"]
    if low < 0:
        raise invalid(f"Min bound, {low}, must be greater than or equal to 0")
    if low > high:
        raise invalid(f"Max bound, {high}, must be greater than or equal to min bound, {low}")
    if not low <= desired <= high:
        raise invalid(
            f"Desired capacity:{desired} must be between the specified min size:{low} and max "
            f"size:{high}"
        )
    launches.check(call, fields)

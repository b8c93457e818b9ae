"""Groups of several instance types: which type is tried first, and how it is bought.

API reference, InstancesDistribution: on demand by the strategy `prioritized`, the first of the
overrides first, and the next one for what that cannot fulfil; on Spot
`capacity-optimized-prioritized`, which follows the order as far as capacity lets it, or
`price-capacity-optimized`, which takes the cheapest of the types with the most capacity. User
guide, "Auto Scaling groups with multiple instance types and purchase options". From memory: the
words that refuse a launch template for Spot. Inferred: the next type is tried whatever EC2 said of
the one before; on Spot, all types have the same capacity, so that the order or the price decides.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.autoscaling.refusals import bad_template, invalid, unsupported
from embedded_aws.ec2.launch_templates import template_data
from embedded_aws.ec2.spot_prices import price_now
from embedded_aws.ec2.zones import zone_of

POLICY = "MixedInstancesPolicy"
_ON_DEMAND, _SPOT, _CHEAPEST = (
    "prioritized",
    "capacity-optimized-prioritized",
    "price-capacity-optimized",
)
# With it, all instances above the base are on demand, or none of them.
_SHARE = "OnDemandPercentageAboveBaseCapacity"
_DISTRIBUTION = ("OnDemandAllocationStrategy", _SHARE, "SpotAllocationStrategy", "SpotMaxPrice")
# API reference, MixedInstancesPolicy: 40 overrides.
_MOST_TYPES = 40


def template_of(fields: Row) -> Row:
    """Return the specification of a group's launch template."""
    if policy := fields.get(POLICY):
        template: Row = policy["LaunchTemplate"]["LaunchTemplateSpecification"]
        return template
    return dict(fields["LaunchTemplate"])


def with_template(policy: Row, template: Row) -> Row:
    """Return a policy with another specification of its launch template."""
    changed = {**policy["LaunchTemplate"], "LaunchTemplateSpecification": template}
    return {**policy, "LaunchTemplate": changed}


def types_in_turn(call: Call, fields: Row, subnet: Any) -> list[str]:
    """Return the instance types of a group in the order in which they are tried in a subnet.

    Raises:
        Refusal: neither the policy nor the launch template has one.
    """
    types = types_of(call, fields)
    distribution = fields.get(POLICY, {}).get("InstancesDistribution", {})
    if distribution.get("SpotAllocationStrategy") != _CHEAPEST:
        return types
    zone = zone_of(call.region, subnet.availability_zone)
    assert zone
    return sorted(types, key=lambda each: price_now(call.account, call.region, each, zone[1]))


def types_of(call: Call, fields: Row) -> list[str]:
    """Return the instance types of a group in the order in which it names them.

    Raises:
        Refusal: neither the policy nor the launch template has one.
    """
    overrides = fields.get(POLICY, {}).get("LaunchTemplate", {}).get("Overrides", [])
    if types := [each["InstanceType"] for each in overrides]:
        return types
    template = template_data(call, ec2_specification(fields))
    if "InstanceType" not in template:
        raise bad_template("The launch template must have an InstanceType.")
    return [template["InstanceType"]]


def ec2_specification(fields: Row) -> dict[str, str]:
    """Return the launch template of a group as EC2 takes it, which wants only one of its names."""
    template = template_of(fields)
    return {key: value for key, value in template.items() if key != "LaunchTemplateName"}


def purchase(fields: Row) -> dict[str, Any]:
    """Return what a launch of a group asks for beside its template: Spot, or nothing."""
    policy = fields.get(POLICY)
    if not policy or _on_demand_share(policy):
        return {}
    price = policy["InstancesDistribution"].get("SpotMaxPrice")
    options = {"SpotInstanceType": "one-time", **({"MaxPrice": price} if price else {})}
    return {"InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": options}}


def check_policy(call: Call, policy: Row) -> None:
    """Refuse a policy that the embedded AWS does not follow, or AWS does not take.

    Raises:
        Refusal: it is one.
    """
    overrides = policy.get("LaunchTemplate", {}).get("Overrides", [])
    if len(overrides) > _MOST_TYPES:
        raise invalid(f"A mixed instances policy has at most {_MOST_TYPES} overrides.")
    for each in overrides:
        if others := sorted(name for name in each if name != "InstanceType"):
            raise unsupported(f"overrides of {', '.join(others)}")
    distribution: Mapping[str, Any] = policy.get("InstancesDistribution", {})
    for name, value in distribution.items():
        if value and name not in _DISTRIBUTION:
            raise unsupported(f"{name} {value}")
    if (share := _on_demand_share(policy)) not in (0, 100):
        raise unsupported(f"{_SHARE} {share}, between 0 and 100,")
    name, followed = (
        ("OnDemandAllocationStrategy", (_ON_DEMAND,))
        if share
        else ("SpotAllocationStrategy", (_SPOT, _CHEAPEST))
    )
    # API reference: `prioritized` is the default of groups without InstanceRequirements, and
    # `lowest-price` that of Spot.
    if distribution.get(name, _ON_DEMAND) not in followed:
        raise unsupported(f"{name} {distribution.get(name, 'lowest-price')}")
    specification = policy["LaunchTemplate"]["LaunchTemplateSpecification"]
    market = template_data(call, specification).get("InstanceMarketOptions", {})
    if market.get("MarketType") == "spot":
        raise invalid(
            "Incompatible launch template: You cannot use a launch template that is set to request "
            "Spot Instances (InstanceMarketOptions) when you configure an Auto Scaling group with "
            "a mixed instances policy. Add a different launch template to the group and try again."
        )


def _on_demand_share(policy: Row) -> int:
    return int(policy.get("InstancesDistribution", {}).get(_SHARE, 100))

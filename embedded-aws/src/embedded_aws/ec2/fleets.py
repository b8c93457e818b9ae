"""CreateFleet of type instant, as launchers of spot instances use it: like RunInstances.

EC2 API reference: each override of a launch template configuration is a possible launch; an instant
fleet answers with its instances. Here the first one is launched, as there is always capacity, and
all are checked. Inferred: that all are checked. moto launches without checks and without the
template's interfaces and security groups. DescribeFleets does not list these fleets.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from moto.ec2.responses.instances import InstanceResponse

from embedded_aws.actions import Call, action
from embedded_aws.ec2.instances import run_instances
from embedded_aws.ec2.launch_templates import template_data
from embedded_aws.ec2.launches import check_launch


@action("ec2", "CreateFleet")
def create_fleet(call: Call) -> Any:
    """Launch the instances of an instant fleet; moto answers for other fleets."""
    if call.params.get("Type") != "instant":
        return call.moto()
    target = call.params["TargetCapacitySpecification"]
    market = target.get("DefaultTargetCapacityType", "on-demand")
    ways = list(_ways(call))
    for _, way in ways:
        interfaces = way.get("NetworkInterfaces") or [{}]
        subnet_id = way.get("SubnetId") or interfaces[0].get("SubnetId")
        check_launch(call, way["InstanceType"], subnet_id, way)
    configuration, way = ways[0]
    spot = {"InstanceMarketOptions": {"MarketType": "spot"}} if market == "spot" else {}
    count = target["TotalTargetCapacity"]
    for name in ("TagSpecifications", "LaunchTemplateConfigs"):
        call.response.params.pop(name, None)
    launched = run_instances(
        replace(
            call,
            operation="RunInstances",
            params={**way, **spot, "MinCount": count, "MaxCount": count},
            # moto's response of EC2 is one of these.
            original=InstanceResponse.run_instances,  # type: ignore[arg-type]
        )
    ).result.instances
    return {
        "FleetId": f"fleet-{uuid4()}",
        "Errors": [],
        "Instances": [
            {
                "LaunchTemplateAndOverrides": {
                    "LaunchTemplateSpecification": configuration["LaunchTemplateSpecification"]
                },
                "Lifecycle": market,
                "InstanceIds": [instance.id for instance in launched],
                "InstanceType": way["InstanceType"],
            }
        ],
    }


def _ways(call: Call) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yield every possible launch of the fleet, as parameters of RunInstances, by configuration."""
    for configuration in call.params.get("LaunchTemplateConfigs", []):
        specification = configuration["LaunchTemplateSpecification"]
        data = dict(template_data(call, specification))
        if user_data := data.get("UserData"):
            data["UserData"] = str(user_data)
        for override in configuration.get("Overrides") or [{}]:
            way = {"InstanceType": "m1.small", **data, **override, "LaunchTemplate": specification}
            # Documented: a subnet of the override goes to the template's interface, when it has
            # one.
            if interfaces := data.get("NetworkInterfaces"):
                subnet = override.get("SubnetId") or interfaces[0].get("SubnetId")
                way["NetworkInterfaces"] = [{**each, "SubnetId": subnet} for each in interfaces]
                way.pop("SubnetId", None)
            yield configuration, way

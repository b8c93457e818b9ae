"""CreateFleet of type instant, as launchers of spot instances use it: checked, and booted.

[S] EC2 API reference: each override of a launch template configuration is a way to launch; an
instant fleet answers with its instances. moto launches them unchecked.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.offline.services.actions import Call, action
from trainshed.offline.services.guest_instances import boot, bootable
from trainshed.offline.services.launch_templates import check_template, template_data
from trainshed.offline.services.launches import Launch, check_launch

_DEFAULT_TYPE = "m1.small"


@action("ec2", "CreateFleet")
def create_fleet(call: Call) -> Any:
    """Launch what EC2 would launch; there is always capacity."""
    ways = list(_ways(call))
    for data in ways:
        check_template(data)
        check_launch(
            call,
            Launch(
                instance_type=data.get("InstanceType", _DEFAULT_TYPE),
                subnet_id=data.get("SubnetId"),
                data=data,
            ),
        )
    disks = {data["ImageId"]: bootable(call, data["ImageId"]) for data in ways}
    answer = call.moto()
    fleet = call.backend("ec2").fleets[answer.result["FleetId"]]
    launched = [each["instance"] for each in fleet.on_demand_instances]
    for instance in [*launched, *(request.instance for request in fleet.spot_requests)]:
        data = next(
            data
            for data in ways
            if (data["ImageId"], data["InstanceType"])
            == (instance.image_id, instance.instance_type)
        )
        if disk := disks[instance.image_id]:
            boot(call, [instance], disk, data)
    return answer


def _ways(call: Call) -> Iterator[Mapping[str, Any]]:
    """Yield the data of every launch that the fleet may make."""
    for configuration in call.params.get("LaunchTemplateConfigs", []):
        data = template_data(call, configuration["LaunchTemplateSpecification"])
        for override in configuration.get("Overrides") or [{}]:
            yield {**data, **override}

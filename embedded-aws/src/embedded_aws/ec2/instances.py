"""RunInstances: join template and request, check them, and launch in moto.

EC2 API reference: request parameters override the template's; interfaces exclude an instance-level
subnet or groups; DryRun answers DryRunOperation after every check; launches into a placement group;
`resolve:ssm:` AMIs. Inferred: interfaces of the request replace those of the template as a whole.
moto has one interface for each device index; here each network card has its own.
"""

import threading
from collections.abc import Mapping
from typing import Any

from moto.ec2.models.elastic_network_interfaces import Attachment
from moto.ec2.models.instances import Instance

from embedded_aws.actions import Call, action, correction
from embedded_aws.ec2 import held_capacity, placement_groups, spot_requests
from embedded_aws.ec2.ami_attributes import find_ami
from embedded_aws.ec2.instance_types import require
from embedded_aws.ec2.launch_templates import check_template, template_data
from embedded_aws.ec2.launch_volumes import complete_volumes, for_moto, joined_mappings
from embedded_aws.ec2.launches import check_launch
from embedded_aws.ec2.machines import machines
from embedded_aws.ec2.network_interfaces import kind_of, place_of
from embedded_aws.ec2.refusals import invalid_combination, invalid_value, missing_parameter
from embedded_aws.ec2.subnets import subnet_of
from embedded_aws.ec2.volume_limits import check_volume

_DEFAULT_TYPE = "m1.small"


@correction
def show_network_cards() -> None:
    """Add the network card to moto's attachments."""
    original = Attachment.__init__

    def with_card(self: Any, interface: Any) -> None:
        original(self, interface)
        self.network_card_index = getattr(interface, "network_card_index", 0)

    # mypy refuses replacing methods; moto offers no other way.
    Attachment.__init__ = with_card  # type: ignore[assignment,method-assign]


@correction
def terminate_once() -> None:
    """Let an instance be terminated again: TerminateInstances is idempotent, and fails in moto.

    One at a time, because Batch ends its instances while users may do so, too.
    """
    original = Instance.terminate
    guard = threading.Lock()

    def terminate(self: Any) -> Any:
        with guard:
            return self._state if self._state.name == "terminated" else original(self)

    # mypy refuses replacing methods; moto offers no other way.
    Instance.terminate = terminate  # type: ignore[method-assign]


@correction
def show_no_interfaces_of_the_terminated() -> None:
    """Show no network interfaces of an instance that is terminated.

    EC2 user guide, terminate instances: it deletes them, or detaches those that are to stay.
    """

    def network_interfaces(self: Any) -> list[Any]:
        return [] if self.state == "terminated" else list(self.nics.values())

    Instance.network_interfaces = property(network_interfaces)  # type: ignore[assignment]


@correction
def show_cpus() -> None:
    """Add the vCPUs of an instance, which moto does not show; by default those of its type."""

    def cpu_options(self: Any) -> dict[str, int]:
        vcpus = require(self.instance_type)["VCpuInfo"]
        threads = vcpus.get("DefaultThreadsPerCore", 1)
        return {"CoreCount": vcpus["DefaultVCpus"] // threads, "ThreadsPerCore": threads}

    Instance.cpu_options = property(cpu_options)  # type: ignore[attr-defined]


@action("ec2", "RunInstances")
def run_instances(call: Call) -> Any:
    """Launch instances after EC2's checks; there is always capacity."""
    data = _joined(call)
    check_template(data)
    interfaces = data.get("NetworkInterfaces", [])
    if interfaces and call.params.get("SubnetId"):
        raise invalid_combination(
            "Network interfaces and an instance-level subnet ID may not be specified on the "
            "same request"
        )
    if not data.get("ImageId"):
        raise missing_parameter("ImageId")
    subnet = _subnet(call, data)
    instance_type, count = data.get("InstanceType", _DEFAULT_TYPE), call.params["MaxCount"]
    check_launch(call, instance_type, subnet.id if subnet else None, data, count)
    zone = subnet.availability_zone if subnet else ""
    spot_requests.check(call, data, instance_type, zone)
    group = None
    if name := data.get("Placement", {}).get("GroupName"):
        group = placement_groups.find(call, name)
        placement_groups.check_launch(call, group, instance_type, zone)
    reservations = held_capacity.places(call, data, instance_type, zone, count)
    if call.params.get("DryRun") and not data["ImageId"].startswith("resolve:ssm:"):
        # moto launches any, of which tests of much else make use.
        find_ami(call.backend("ec2"), data["ImageId"])
    _hand_to_moto(call, data, subnet)
    machines().check_bootable(call, call.response.params["ImageId"])
    mappings = joined_mappings(
        call.backend("ec2").amis.get(call.response.params["ImageId"]),
        data.get("BlockDeviceMappings", []),
    )
    for mapping in mappings:
        check_volume(mapping.get("Ebs", {}))
    if mappings:
        call.response.params["BlockDeviceMappings"] = for_moto(mappings)
    answer = call.moto()
    instances = answer.result.instances
    for instance in instances:
        complete_volumes(call.backend("ec2"), instance, mappings)
    for instance in instances:
        _place_interfaces(instance, interfaces)
        instance.placement.group_name = group["GroupName"] if group else ""
    if profile := data.get("IamInstanceProfile"):
        # moto gives it to the first one only.
        for instance in instances[1:]:
            call.backend("ec2").associate_iam_instance_profile(
                instance.id, profile.get("Name"), profile.get("Arn")
            )
    ids = [instance.id for instance in instances]
    if group:
        placement_groups.join(call, group, ids)
    held_capacity.use(call, ids, reservations)
    spot_requests.fulfil(call, data, instances)
    for instance in instances:
        machines().launch(call, instance, data)
    return answer


def _joined(call: Call) -> dict[str, Any]:
    """Return the template's data with the request's parameters over it."""
    specification = call.params.get("LaunchTemplate")
    template = template_data(call, specification) if specification else {}
    joined = {**template, **call.params}
    if template.get("UserData") and "UserData" not in call.params:
        joined["UserData"] = str(template["UserData"])
    if template.get("Placement") and "Placement" in call.params:
        joined["Placement"] = {**template["Placement"], **call.params["Placement"]}
    return joined


def _subnet(call: Call, data: Mapping[str, Any]) -> Any:
    """Return moto's subnet of the launch; the default VPC's when none is named."""
    named = data.get("SubnetId") or next(
        (i["SubnetId"] for i in data.get("NetworkInterfaces", []) if "SubnetId" in i), None
    )
    if named:
        return subnet_of(call, named)
    zone = data.get("Placement", {}).get("AvailabilityZone")
    defaults = call.backend("ec2").get_default_subnets()
    return defaults.get(zone) if zone else next(iter(defaults.values()), None)


def _hand_to_moto(call: Call, data: Mapping[str, Any], subnet: Any) -> None:
    """Rewrite the request for moto."""
    params = call.response.params
    for key, value in data.items():
        if key != "TagSpecifications":
            params[key] = value
    params["MinCount"] = call.params["MaxCount"]
    if data["ImageId"].startswith("resolve:ssm:"):
        params["ImageId"] = _resolve_ami(call, data["ImageId"].removeprefix("resolve:ssm:"))
    if interfaces := data.get("NetworkInterfaces"):
        params["NetworkInterfaces"] = [
            {
                "SubnetId": subnet.id,
                "DeleteOnTermination": True,
                **interface,
                "DeviceIndex": number,
            }
            for number, interface in enumerate(sorted(interfaces, key=place_of))
        ]
    elif subnet is not None:
        params["SubnetId"] = subnet.id


def _resolve_ami(call: Call, name: str) -> str:
    parameter = call.backend("ssm").get_parameters([name]).get(name)
    if parameter is None:
        raise invalid_value(f"Unable to resolve SSM parameter {name}.")
    ami: str = parameter.value
    return ami


def _place_interfaces(instance: Any, interfaces: Any) -> None:
    """Give each interface its card, its device index and its kind."""
    if not interfaces:
        # An interface that a launch creates by itself ends with the instance; moto keeps it.
        instance.nics[0].delete_on_termination = True
    for number, specified in enumerate(sorted(interfaces, key=place_of)):
        interface = instance.nics[number]
        interface.network_card_index, interface.device_index = place_of(specified)
        interface.interface_type = kind_of(specified)
        if kind_of(specified) == "efa-only":
            interface.private_ip_address, interface.private_ip_addresses = None, []

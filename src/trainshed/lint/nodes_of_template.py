"""The groups of nodes that a CloudFormation template launches, with their launch templates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from trainshed.lint.model import Given, Interface, Known, NodeGroup, Unknown, converted, single
from trainshed.lint.symbol import logical_id
from trainshed.lint.template import Template, TemplateResource, TemplateValue

T = TypeVar("T")
LAUNCH_TEMPLATE = "AWS::EC2::LaunchTemplate"
# EKS API reference, CreateNodegroup: in GiB, for Linux.
_DISK_OF_EKS = 20
_CAPACITY_TYPES = {"SPOT": "spot", "CAPACITY_BLOCK": "capacity-block", "ON_DEMAND": "on-demand"}


def node_groups(template: Template) -> tuple[NodeGroup, ...]:
    """Return what launches nodes; a launch template that none of it uses, by itself."""
    groups = []
    used: set[str] = set()
    for resource in template.resources.values():
        if make := _MAKERS.get(resource.type):
            launch = launch_of(template, _LAUNCH[resource.type](resource))
            if launch.resource:
                used.add(launch.resource.logical_id)
            groups.append(make(resource, launch))
    for resource in template.of_type(LAUNCH_TEMPLATE):
        if resource.logical_id not in used:
            data = resource.get("LaunchTemplateData")
            groups.append(_group(resource, Launch(data=data, resource=resource)))
    return tuple(groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The launch template that something uses.

    Attributes:
        data: its `LaunchTemplateData`; not decided when it is not in the file.
        resource: None when it is not in the file.
    """

    data: TemplateValue
    resource: TemplateResource | None = None


def launch_template_of(template: Template, specification: TemplateValue) -> TemplateResource | None:
    """Return the launch template that a `LaunchTemplate` property names, if it is in the file."""
    # Node groups of EKS say it shorter.
    by_id = (specification.get("LaunchTemplateId") or specification.get("Id")).reference()
    if isinstance(by_id, Known):
        resource = template.resources.get(logical_id(by_id.value) or "")
        return resource if resource and resource.type == LAUNCH_TEMPLATE else None
    by_name = (specification.get("LaunchTemplateName") or specification.get("Name")).reference()
    if isinstance(by_name, Known):
        for resource in template.of_type(LAUNCH_TEMPLATE):
            name = resource.get("LaunchTemplateName").reference()
            if isinstance(name, Known) and name.value == by_name.value:
                return resource
            if logical_id(by_name.value) == resource.logical_id:
                return resource
    return None


def launch_of(template: Template, specification: TemplateValue) -> Launch:
    """Return the launch template that a `LaunchTemplate` property names, if it names one."""
    if not specification:
        return Launch(data=specification)
    resource = launch_template_of(template, specification)
    if resource:
        return Launch(data=resource.get("LaunchTemplateData"), resource=resource)
    given = specification.given
    why = given.why if isinstance(given, Unknown) else "a launch template that is not in this file"
    unknown = Unknown(why=why, path=specification.path)
    return Launch(
        data=TemplateValue(scope=specification.scope, given=unknown, path=specification.path)
    )


def _group(resource: TemplateResource, launch: Launch, **own: Given[Any]) -> NodeGroup:
    """Return a group: its own values, and those of its launch template for the others."""
    data = launch.data
    market = data.get("InstanceMarketOptions", "MarketType").text()
    inherited: dict[str, Given[Any]] = {
        "instance_types": single(data.get("InstanceType").text()),
        "interfaces": _interfaces(data),
        "placement_group": _either(
            data.get("Placement", "GroupName").reference(),
            data.get("Placement", "GroupId").reference(),
        ),
        "image": data.get("ImageId").reference(),
        "zones": single(data.get("Placement", "AvailabilityZone").reference()),
        "purchase": market,
    }
    settings = {name: _either(own.get(name), inherited.get(name)) for name in (*own, *inherited)}
    return NodeGroup(name=resource.logical_id, path=resource.path, launch=resource.type, **settings)


def _either(first: Given[T], second: Given[T]) -> Given[T]:
    return second if first is None else first


def _interfaces(data: TemplateValue) -> Given[tuple[Interface, ...]]:
    entries = data.get("NetworkInterfaces").entries()
    return converted(entries, lambda rows: tuple(map(_interface, rows)))


def _interface(node: TemplateValue) -> Interface:
    path = node.given.path if node.given else node.path
    groups = node.get("Groups") or node.get("GroupSet")
    return Interface(
        path=path,
        card=_either(node.get("NetworkCardIndex").whole(), Known(value=0, path=path)),
        device=node.get("DeviceIndex").whole(),
        kind=_either(node.get("InterfaceType").text(), Known(value="interface", path=path)),
        public_address=node.get("AssociatePublicIpAddress").flag(),
        security_groups=groups.references(),
    )


def _instance(resource: TemplateResource, launch: Launch) -> NodeGroup:
    return _group(
        resource,
        launch,
        instance_types=single(resource.get("InstanceType").text()),
        nodes=Known(value=1, path=resource.path),
        interfaces=_interfaces(resource.properties),
        placement_group=resource.get("PlacementGroupName").reference(),
        image=resource.get("ImageId").reference(),
        subnets=single(resource.get("SubnetId").reference()),
        zones=single(resource.get("AvailabilityZone").reference()),
    )


def _auto_scaling_group(resource: TemplateResource, launch: Launch) -> NodeGroup:
    overrides = resource.get("MixedInstancesPolicy", "LaunchTemplate", "Overrides")
    return _group(
        resource,
        launch,
        instance_types=_types_of_overrides(overrides),
        nodes=resource.get("MaxSize").whole(),
        placement_group=resource.get("PlacementGroup").reference(),
        subnets=resource.get("VPCZoneIdentifier").references(),
        zones=resource.get("AvailabilityZones").references(),
    )


def _node_group_of_eks(resource: TemplateResource, launch: Launch) -> NodeGroup:
    capacity_type = resource.get("CapacityType").text()
    return _group(
        resource,
        launch,
        instance_types=resource.get("InstanceTypes").texts(),
        nodes=resource.get("ScalingConfig", "MaxSize").whole(),
        image_type=resource.get("AmiType").text(),
        subnets=resource.get("Subnets").references(),
        root_gib=_either(resource.get("DiskSize").whole(), _root_gib(resource, launch)),
        purchase=converted(capacity_type, lambda name: _CAPACITY_TYPES.get(name.upper(), name)),
    )


def _root_gib(resource: TemplateResource, launch: Launch) -> Given[int]:
    """Return the size of the largest volume; without a template, what EKS takes by default."""
    if not launch.data:
        return Known(value=_DISK_OF_EKS, path=resource.path)
    volumes = launch.data.get("BlockDeviceMappings").entries()
    if not isinstance(volumes, Known):
        return volumes
    sizes = [volume.get("Ebs", "VolumeSize").whole() for volume in volumes.value]
    known = [size for size in sizes if isinstance(size, Known)]
    unknown = next((size for size in sizes if isinstance(size, Unknown)), None)
    return unknown or max(known, key=lambda size: size.value, default=None)


def _compute_environment(resource: TemplateResource, launch: Launch) -> NodeGroup:
    nodes = resource.get("ComputeResources")
    images = nodes.get("Ec2Configuration").known_entries()
    kind = nodes.get("Type").text()
    spot = isinstance(kind, Known) and kind.value.upper() == "SPOT"
    first = images[0] if images else nodes.get("Ec2Configuration")
    return _group(
        resource,
        launch,
        instance_types=nodes.get("InstanceTypes").texts(),
        placement_group=nodes.get("PlacementGroup").reference(),
        image=_either(first.get("ImageIdOverride").reference(), nodes.get("ImageId").reference()),
        image_type=first.get("ImageType").text(),
        subnets=nodes.get("Subnets").references(),
        purchase=Known(value="spot", path=kind.path) if spot and kind else None,
    )


def _fleet(resource: TemplateResource, launch: Launch) -> NodeGroup:
    configurations = _fleet_configurations(resource)
    overrides = configurations[0].get("Overrides") if configurations else resource.get("none")
    return _group(resource, launch, instance_types=_types_of_overrides(overrides))


def _types_of_overrides(overrides: TemplateValue) -> Given[tuple[str, ...]]:
    entries = overrides.entries()
    if not isinstance(entries, Known):
        return entries
    names: list[str] = []
    defaults: tuple[str, ...] = ()
    for entry in entries.value:
        name = entry.get("InstanceType").text()
        if isinstance(name, Unknown):
            return name
        if name:
            names.append(name.value)
            defaults += name.defaults
    return Known(value=tuple(names), path=entries.path, defaults=defaults) if names else None


def _fleet_configurations(resource: TemplateResource) -> tuple[TemplateValue, ...]:
    configurations = resource.get("LaunchTemplateConfigs")
    if not configurations:
        configurations = resource.get("SpotFleetRequestConfigData", "LaunchTemplateConfigs")
    return configurations.known_entries()


def _fleet_launch(resource: TemplateResource) -> TemplateValue:
    configurations = _fleet_configurations(resource)
    first = configurations[0] if configurations else resource.get("LaunchTemplateConfigs")
    return first.get("LaunchTemplateSpecification")


def _auto_scaling_launch(resource: TemplateResource) -> TemplateValue:
    mixed = resource.get("MixedInstancesPolicy", "LaunchTemplate", "LaunchTemplateSpecification")
    return mixed or resource.get("LaunchTemplate")


_MAKERS: dict[str, Callable[[TemplateResource, Launch], NodeGroup]] = {
    "AWS::AutoScaling::AutoScalingGroup": _auto_scaling_group,
    "AWS::Batch::ComputeEnvironment": _compute_environment,
    "AWS::EC2::EC2Fleet": _fleet,
    "AWS::EC2::Instance": _instance,
    "AWS::EC2::SpotFleet": _fleet,
    "AWS::EKS::Nodegroup": _node_group_of_eks,
}
_LAUNCH: dict[str, Callable[[TemplateResource], TemplateValue]] = {
    "AWS::AutoScaling::AutoScalingGroup": _auto_scaling_launch,
    "AWS::Batch::ComputeEnvironment": lambda each: each.get("ComputeResources", "LaunchTemplate"),
    "AWS::EC2::EC2Fleet": _fleet_launch,
    "AWS::EC2::Instance": lambda each: each.get("LaunchTemplate"),
    "AWS::EC2::SpotFleet": _fleet_launch,
    "AWS::EKS::Nodegroup": lambda each: each.get("LaunchTemplate"),
}


def launch_specifications(template: Template) -> Iterator[tuple[TemplateResource, TemplateValue]]:
    """Yield what uses a launch template, each with the property that names it."""
    for resource in template.of_type(*_LAUNCH):
        if specification := _LAUNCH[resource.type](resource):
            yield resource, specification

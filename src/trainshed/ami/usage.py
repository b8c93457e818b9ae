"""What uses an AMI in a region: instances, launch templates, Batch, Auto Scaling."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trainshed.aws import AwsRefusal, Region, accepting

_RESOLVED = "resolve:ssm:"
# An AMI id, and what uses it.
Use = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What uses which AMI.

    Attributes:
        users: what uses it, by AMI id.
        blind: why some places could not be looked at; empty when all were.
    """

    users: dict[str, list[str]]
    blind: tuple[str, ...]


def usage(region: Region) -> Usage:
    """Look at everything in a region that can launch an AMI."""
    users: dict[str, list[str]] = defaultdict(list)
    blind = []
    for look in (_instances, _launch_templates, _compute_environments, _launch_configurations):
        try:
            for image_id, user in look(region):
                users[image_id].append(user)
        except AwsRefusal as error:
            blind.append(str(error))
    return Usage(users=dict(users), blind=tuple(blind))


def _instances(region: Region) -> Iterator[Use]:
    for reservation in region.pages("ec2", "describe_instances", "Reservations"):
        for instance in reservation["Instances"]:
            state = instance["State"]["Name"]
            if state != "terminated":
                yield instance["ImageId"], f"instance {instance['InstanceId']} ({state})"


def _launch_templates(region: Region) -> Iterator[Use]:
    resolve = _resolver(region)
    for template in region.pages("ec2", "describe_launch_templates", "LaunchTemplates"):
        versions = region.pages(
            "ec2",
            "describe_launch_template_versions",
            "LaunchTemplateVersions",
            LaunchTemplateId=template["LaunchTemplateId"],
        )
        for version in versions:
            ami = version["LaunchTemplateData"].get("ImageId", "")
            ami = resolve(ami) if ami.startswith(_RESOLVED) else ami
            if ami:
                name = f"{version['LaunchTemplateName']}:{version['VersionNumber']}"
                yield ami, f"launch template {name}"


def _compute_environments(region: Region) -> Iterator[Use]:
    environments = region.pages("batch", "describe_compute_environments", "computeEnvironments")
    for environment in environments:
        resources = environment.get("computeResources", {})
        overrides = resources.get("ec2Configuration", [])
        amis = {resources.get("imageId"), *(one.get("imageIdOverride") for one in overrides)}
        for ami in amis - {None}:
            yield ami, f"compute environment {environment['computeEnvironmentName']}"


def _launch_configurations(region: Region) -> Iterator[Use]:
    """Launch configurations of Auto Scaling; its launch templates are among all templates."""
    found = region.pages("autoscaling", "describe_launch_configurations", "LaunchConfigurations")
    for entry in found:
        yield entry["ImageId"], f"launch configuration {entry['LaunchConfigurationName']}"


def _resolver(region: Region) -> Callable[[str], str]:
    """Return a function that looks up `resolve:ssm:` AMIs, each once; '' for a missing one."""
    found: dict[str, str] = {}

    def resolve(ami: str) -> str:
        if ami not in found:
            found[ami] = ""
            with accepting("ParameterNotFound", "ParameterVersionNotFound"):
                answer = region.call("ssm", "get_parameter", Name=ami.removeprefix(_RESOLVED))
                found[ami] = answer["Parameter"]["Value"]
        return found[ami]

    return resolve

"""Managed instances: those whose agent may talk to Systems Manager.

Systems Manager user guide, "Configure instance permissions required for Systems Manager": the role
of the instance profile, which EC2 may assume, allows ssm:UpdateInstanceInformation. Inferred: only
running instances are listed, at once; AWS lists stopped ones for some time as ConnectionLost.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.ec2.instance_agents import agent_can
from embedded_aws.ssm.pages import page
from embedded_aws.ssm.targets import tags_of

_AGENT_VERSION = "3.3.3050.0"
# From memory: what agents report; by the beginning of the AMI's name.
_PLATFORMS = {"ubuntu/": ("Ubuntu", "22.04"), "": ("Amazon Linux", "2023")}


def is_managed(call: Call, instance: Any) -> bool:
    """Whether moto's instance runs and its agent may talk to Systems Manager."""
    ping = {"InstanceId": instance.id}
    return instance.state == "running" and agent_can(
        call, instance, "ssm", "UpdateInstanceInformation", ping
    )


def managed_instances(call: Call) -> Iterator[Any]:
    """Yield moto's instances that are managed."""
    for instance in call.backend("ec2").all_instances():
        if is_managed(call, instance):
            yield instance


@action("ssm", "DescribeInstanceInformation")
def describe_instance_information(call: Call) -> dict[str, Any]:
    """Describe the managed instances that match all filters."""
    filters = [(each["Key"], each["Values"]) for each in call.params.get("Filters", [])]
    for each in call.params.get("InstanceInformationFilterList", []):
        filters.append((each["key"], each["valueSet"]))
    found = []
    for instance in managed_instances(call):
        row = _row(instance)
        if all(_matches(row, tags_of(instance), key, values) for key, values in filters):
            found.append(row)
    rows, more = page(call, found)
    return {"InstanceInformationList": rows, **more}


def _row(instance: Any) -> dict[str, Any]:
    now = datetime.now(UTC)
    ami = instance.ec2_backend.amis.get(instance.image_id)
    name, version = next(
        platform
        for beginning, platform in _PLATFORMS.items()
        if (getattr(ami, "name", "") or "").startswith(beginning)
    )
    return {
        "InstanceId": instance.id,
        "PingStatus": "Online",
        "LastPingDateTime": now,
        "AgentVersion": _AGENT_VERSION,
        "IsLatestVersion": True,
        "PlatformType": "Linux",
        "PlatformName": name,
        "PlatformVersion": version,
        "ResourceType": "EC2Instance",
        "IPAddress": instance.private_ip,
        "ComputerName": instance.private_dns_name,
        "SourceId": instance.id,
        "SourceType": "AWS::EC2::Instance",
    }


def _matches(
    row: Mapping[str, Any], tags: Mapping[str, str], key: str, values: Sequence[str]
) -> bool:
    fields = {
        "AgentVersion": "AgentVersion",
        "InstanceIds": "InstanceId",
        "PingStatus": "PingStatus",
        "PlatformTypes": "PlatformType",
        "ResourceType": "ResourceType",
        "SourceIds": "SourceId",
        "SourceTypes": "SourceType",
    }
    if key == "tag-key":
        return not tags.keys().isdisjoint(values)
    if key.startswith("tag:"):
        return tags.get(key.removeprefix("tag:")) in values
    if key in ("ActivationIds", "AssociationStatus", "IamRole"):
        # Those of machines outside of EC2, and of associations.
        return False
    if key not in fields:
        raise Refusal("InvalidInstanceInformationFilterValue", f"{key} is not a valid filter key.")
    return row[fields[key]] in values

"""Networks, placement groups and launch templates in the inventory."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.inventory import Part, lists, row
from embedded_aws.plugins import Row


@lists(Part.NETWORKS)
def _networks(client: Callable[[str], Any]) -> Iterator[Row]:
    ec2 = client("ec2")
    for vpc in ec2.describe_vpcs()["Vpcs"]:
        yield row("vpc", vpc["VpcId"], vpc["CidrBlock"])
    for subnet in ec2.describe_subnets()["Subnets"]:
        facts = f"{subnet['CidrBlock']} in {subnet['AvailabilityZoneId']}"
        yield row("subnet", subnet["SubnetId"], facts)
    rules = ec2.describe_security_group_rules()["SecurityGroupRules"]
    for group in ec2.describe_security_groups()["SecurityGroups"]:
        own = [rule for rule in rules if rule["GroupId"] == group["GroupId"]]
        inward = sum(not rule["IsEgress"] for rule in own)
        facts = f"rules in: {inward}, out: {len(own) - inward}; {group['Description']}"
        yield row("security group", group["GroupId"], facts)


@lists(Part.INSTANCES)
def _compute(client: Callable[[str], Any]) -> Iterator[Row]:
    ec2 = client("ec2")
    for group in ec2.describe_placement_groups()["PlacementGroups"]:
        yield row("placement group", group["GroupName"], group["Strategy"])
    for template in ec2.describe_launch_templates()["LaunchTemplates"]:
        latest = ec2.describe_launch_template_versions(
            LaunchTemplateId=template["LaunchTemplateId"], Versions=["$Latest"]
        )["LaunchTemplateVersions"][0]
        interfaces = latest["LaunchTemplateData"].get("NetworkInterfaces", [])
        with_efa = sum("efa" in interface.get("InterfaceType", "") for interface in interfaces)
        facts = (
            f"version {latest['VersionNumber']}: {len(interfaces)} interfaces, {with_efa} with EFA"
        )
        yield row("launch template", template["LaunchTemplateId"], facts)

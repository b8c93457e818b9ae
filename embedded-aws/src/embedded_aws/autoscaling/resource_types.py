"""AWS::AutoScaling::AutoScalingGroup.

Schema of the type: the group is complete when it has its desired capacity; $Latest and $Default are
not supported; the stack's own tags go to the instances, too. Documented: CloudFormation does not
force a deletion: it sets the sizes to 0 and waits, in vain where instances are protected from
scale-in (aws-cdk issue 18179, fault injection workshop issue 114). From memory: "Group did not
stabilize". Inferred: a creation or an update fails at the first launch that fails, and a deletion
at once, where CloudFormation waits for some time; with a creation policy, its signals alone decide.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from embedded_aws.autoscaling.mixed_instances import POLICY, template_of
from embedded_aws.cloudformation.failures import PartlyDone, reason_of
from embedded_aws.cloudformation.handlers.handler import Handler, changed
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.resource import HandlerError, Made, Properties, Request, resource
from embedded_aws.cloudformation.template.creation_policy import creation_policy
from embedded_aws.cloudformation.template.update_policy import ignores_unmodified_sizes

_KIND = "auto-scaling-group"
_SIZES = ("DesiredCapacity", "MaxSize", "MinSize")


@resource("AWS::AutoScaling::AutoScalingGroup")
class AutoScalingGroup(Handler):
    """A group; its Ref is its name."""

    service = "autoscaling"
    target = name = "AutoScalingGroupName"
    creation = "CreateAutoScalingGroup", "AutoScalingGroupName"
    changing = "UpdateAutoScalingGroup"
    defaults = {"PlacementGroup": ""}
    later = ("MetricsCollection",)
    settings = {
        "Cooldown": Setting(put="UpdateAutoScalingGroup", argument="DefaultCooldown", neutral=300),
        "MetricsCollection": Setting(
            put="EnableMetricsCollection", remove="DisableMetricsCollection", each=True
        ),
    }
    reading = "DescribeAutoScalingGroups", "AutoScalingGroups"

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = super()._wanted(request)
        template = template_of(wanted) if {"LaunchTemplate", POLICY} & set(wanted) else {}
        if template.get("Version") in ("$Latest", "$Default"):
            raise HandlerError(
                "$Latest and $Default are not supported as Version of LaunchTemplate; use "
                "LatestVersionNumber or DefaultVersionNumber of the launch template"
            )
        if "Cooldown" in wanted:
            wanted["DefaultCooldown"] = wanted.pop("Cooldown")
        if subnets := wanted.get("VPCZoneIdentifier"):
            wanted["VPCZoneIdentifier"] = ",".join(subnets)
        wanted["Tags"] = _tags(request, wanted["AutoScalingGroupName"])
        return wanted

    def create(self, request: Request) -> Made:
        """Create the group; one that does not get its instances is left to the rollback."""
        made = super().create(request)
        if creation_policy(request.logical_id, request.definition):
            return made
        if failure := self._unstable(request, made.physical_id):
            raise PartlyDone(reason_of(failure), made.physical_id)
        return made

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        """Change the group; its instances stay as they are."""
        if ignores_unmodified_sizes(request.definition):
            same = [name for name in _SIZES if not changed(request, before, name)]
            request = replace(request, properties=_without(request.properties, same))
            before = _without(before, same)
        made = super().update(request, physical_id, before)
        if failure := self._unstable(request, physical_id):
            raise failure
        return made

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        client = request.client(self.service)
        client.create_or_update_tags(Tags=_tags(request, physical_id))
        if stale:
            named = {"ResourceId": physical_id, "ResourceType": _KIND}
            client.delete_tags(Tags=[{**named, "Key": key} for key in stale])

    def _delete(self, request: Request, physical_id: str) -> None:
        if not self._described(request, physical_id):
            return
        client = request.client(self.service)
        client.update_auto_scaling_group(
            AutoScalingGroupName=physical_id, MinSize=0, MaxSize=0, DesiredCapacity=0
        )
        if failure := self._unstable(request, physical_id):
            raise failure
        client.delete_auto_scaling_group(AutoScalingGroupName=physical_id)

    def signallers(self, request: Request, physical_id: str) -> Collection[str]:
        """Return the ids of the group's instances."""
        group = self._described(request, physical_id)
        return [instance["InstanceId"] for instance in group["Instances"]]

    def _unstable(self, request: Request, physical_id: str) -> HandlerError | None:
        """Return the error for a group that is not as large as it is to be, or None."""
        group = self._described(request, physical_id)
        if len(group["Instances"]) == group["DesiredCapacity"]:
            return None
        [newest, *_] = request.client(self.service).describe_scaling_activities(
            AutoScalingGroupName=physical_id, MaxRecords=1
        )["Activities"]
        sizes = f"{len(group['Instances'])}/{group['MinSize']}/{group['MaxSize']}"
        return HandlerError(
            "Group did not stabilize. {current/minSize/maxSize} group size = {" + sizes + "}. "
            f"Failed Scaling Activity: {newest.get('StatusMessage') or newest['Description']}",
            "NotStabilized",
        )


def _without(properties: Properties, names: Collection[str]) -> Properties:
    return {name: value for name, value in properties.items() if name not in names}


def _tags(request: Request, group: str) -> list[dict[str, Any]]:
    """Return the group's tags: its own say whether instances get them; they get the stack's."""
    stack = [
        {"Key": key, "Value": value, "PropagateAtLaunch": True}
        for key, value in request.tags.items()
    ]
    by_key = {tag["Key"]: tag for tag in [*stack, *request.properties.get("Tags", [])]}
    named = {"ResourceId": group, "ResourceType": _KIND}
    return [{**tag, **named} for tag in by_key.values()]

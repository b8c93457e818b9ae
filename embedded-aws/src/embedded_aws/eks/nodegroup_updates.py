"""Updates of node groups: sizes, labels, taints, and the version of Kubernetes or of the template.

User guide, "Update a managed node group for your cluster", "Understand each phase of node updates":
the strategy DEFAULT launches a new node before it ends an old one, MINIMAL ends old ones first; in
a Capacity Block an update needs a desired size of 0. API reference: a node group keeps its launch
template, of which only the version changes; without a version, nodes get the cluster's. From
memory: the words. Inferred: the times; nodes are replaced one after the other, at the end of the
update.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from embedded_aws.actions import Call, Row
from embedded_aws.cloudformation.clients import client
from embedded_aws.eks import nodegroup_resources, nodegroup_templates
from embedded_aws.eks.calls import answers, invalid, invalid_request
from embedded_aws.eks.nodegroup_health import issues_of, nodes_of
from embedded_aws.eks.nodegroup_rolls import Roll
from embedded_aws.eks.nodegroup_settings import check_settings, sizes_of
from embedded_aws.eks.nodegroups import found
from embedded_aws.eks.quotas import NODES, check_quota
from embedded_aws.eks.tables import cluster_of
from embedded_aws.eks.updates import at_once, start_update

_CONFIG_SECONDS, _VERSION_SECONDS = 60, 300
_NOT_JOINING = "Couldn't proceed with upgrade process as new nodes are not joining node group {}"


@answers("UpdateNodegroupConfig")
def update_nodegroup_config(call: Call) -> dict[str, Any]:
    """Change sizes, labels, taints and how a node group is updated and repaired."""
    group, given = found(call), call.params
    check_settings(given)
    sizes = sizes_of({**group["scalingConfig"], **given.get("scalingConfig", {})})
    check_quota(call, NODES, sizes["maxSize"])
    changed = {
        "scalingConfig": sizes,
        "labels": _labels(group.get("labels", {}), given.get("labels", {})),
        "taints": _taints(group.get("taints", []), given.get("taints", {})),
        **{name: given[name] for name in ("updateConfig", "nodeRepairConfig") if name in given},
    }
    shown = {
        **{
            f"{name[0].upper()}{name[1:]}": str(it)
            for name, it in given.get("scalingConfig", {}).items()
        },
        "LabelsToAdd": given.get("labels", {}).get("addOrUpdateLabels"),
        "LabelsToRemove": given.get("labels", {}).get("removeLabels"),
        "TaintsToAdd": given.get("taints", {}).get("addOrUpdateTaints"),
        "TaintsToRemove": given.get("taints", {}).get("removeTaints"),
        "NodeRepairConfig": given.get("nodeRepairConfig"),
        "UpdateStrategy": given.get("updateConfig", {}).get("updateStrategy"),
    }
    params = {name: value for name, value in shown.items() if value}

    def finish() -> None:
        group.update({**changed, "modifiedAt": datetime.now(UTC)})

    answer = start_update(
        call,
        group,
        group["nodegroupArn"],
        "ConfigUpdate",
        params,
        seconds=_CONFIG_SECONDS,
        finish=finish,
    )
    if sizes != group["scalingConfig"]:
        _scale(call, group, sizes)
    return {"update": answer}


@answers("UpdateNodegroupVersion")
def update_nodegroup_version(call: Call) -> dict[str, Any]:
    """Bring nodes to another version of Kubernetes, or of the launch template."""
    group, given = found(call), call.params
    cluster = cluster_of(call, group["clusterName"])
    of_block = group["capacityType"] == "CAPACITY_BLOCK"
    if of_block and group["scalingConfig"]["desiredSize"]:
        raise invalid_request("A node group in a Capacity Block is updated at a desiredSize of 0.")
    if given.get("launchTemplate") and "launchTemplate" not in group:
        raise invalid(
            "You cannot specify a launch template for a node group that was created without one."
        )
    template, shown = nodegroup_templates.user_template(
        call, given.get("launchTemplate") or _by_id(group)
    )
    if shown and shown["id"] != group["launchTemplate"]["id"]:
        raise invalid("The launch template of a node group cannot be changed, only its version.")
    if ("ImageId" in template) != (group["amiType"] == "CUSTOM"):
        raise invalid(
            "You cannot switch between an AMI of the launch template and one of EKS; create a new "
            "node group."
        )
    request: Row = {
        **{
            name: group[name]
            for name in ("subnets", "capacityType", "instanceTypes")
            if name in group
        },
        **{name: given[name] for name in ("version", "releaseVersion") if name in given},
    }
    nodegroup_templates.check_template(request, template, named=shown is not None)
    types = nodegroup_templates.instance_types_of(request, template)
    version = given.get("version", cluster["version"])
    if tuple(map(int, version.split("."))) > tuple(map(int, cluster["version"].split("."))):
        raise invalid(f"Version {version} is newer than the cluster's {cluster['version']}")
    later_fields: Row = {**({"launchTemplate": shown} if shown else {})}
    if "ImageId" in template:
        later_fields |= {"releaseVersion": template["ImageId"]}
    else:
        release = given.get("releaseVersion", f"{version}.0")
        later_fields |= {"version": version, "releaseVersion": release}
    params = {"Version": given.get("version"), "ReleaseVersion": given.get("releaseVersion")}
    if shown:
        params |= {"LaunchTemplateName": shown["name"], "LaunchTemplateVersion": shown["version"]}

    later_fields["instanceType"] = types[0]
    launch = partial(_launch_from, call, group, later_fields, template)

    def roll(then: Callable[[Row | None], None]) -> None:
        _roll(call, group, launch, force=given.get("force", False), then=then)

    # Nothing drains the nodes of a cluster without an API server.
    drains = "ready" in cluster
    update = start_update(
        call,
        group,
        group["nodegroupArn"],
        "VersionUpdate",
        {name: value for name, value in params.items() if value},
        seconds=_VERSION_SECONDS,
        finish=(lambda: None) if drains else partial(_replace_nodes, call, group, launch),
        begin=roll if drains else at_once,
    )
    return {"update": update}


def _by_id(group: Row) -> Row | None:
    """Return a node group's launch template as calls name it; None for none."""
    named = group.get("launchTemplate")
    return {name: named[name] for name in ("id", "version")} if named else None


def _scale(call: Call, group: Row, sizes: Mapping[str, int]) -> None:
    autoscaling = client("autoscaling", account=call.account, region=call.region)
    autoscaling.update_auto_scaling_group(
        AutoScalingGroupName=nodegroup_resources.scaling_group_of(group),
        MinSize=sizes["minSize"],
        MaxSize=sizes["maxSize"],
        DesiredCapacity=sizes["desiredSize"],
    )


def _launch_from(call: Call, group: Row, changed: Row, template: Row) -> Callable[[], None]:
    """Have a node group launch from a new template from now on.

    Args:
        call: in whose account and region.
        group: the node group.
        changed: its fields that change.
        template: the new one's data.

    Returns:
        What has it launch as before.

    Raises:
        ClientError: EC2 or its Auto Scaling group refuses the template, so that nothing changes.
    """
    before = {name: group[name] for name in (*changed, "copyVersion") if name in group}
    name = group["copyName"]
    data = nodegroup_templates.copy_of(
        call,
        {**group, **changed},
        cluster_of(call, group["clusterName"]),
        template,
        instance_type=changed["instanceType"],
        profile=name,
    )
    autoscaling = client("autoscaling", account=call.account, region=call.region)

    def use(version: str, fields: Row) -> None:
        autoscaling.update_auto_scaling_group(
            AutoScalingGroupName=nodegroup_resources.scaling_group_of(group),
            **nodegroup_resources.launched_from(group, version),
        )
        group.update({**fields, "copyVersion": version, "modifiedAt": datetime.now(UTC)})

    use(nodegroup_resources.put_template(call, name, group, data), changed)
    return partial(use, before["copyVersion"], before)


def _scale_up(call: Call, group: Row) -> None:
    """Have one more node, which may be more than the group's maximum."""
    sizes = group["scalingConfig"]
    larger = {"maxSize": sizes["maxSize"] + 1, "desiredSize": sizes["desiredSize"] + 1}
    _scale(call, group, {**sizes, **larger})


def _launches_first(group: Row) -> bool:
    return bool(group["updateConfig"].get("updateStrategy", "DEFAULT") == "DEFAULT")


def _roll(
    call: Call,
    group: Row,
    launch: Callable[[], Callable[[], None]],
    *,
    force: bool,
    then: Callable[[Row | None], None],
) -> None:
    """Launch from the new template from now on, and exchange the nodes, which are drained.

    Args:
        call: in whose account and region.
        group: the node group.
        launch: as `_launch_from`.
        force: nodes that are not empty in time are terminated.
        then: called afterwards, with the update's error, which leaves the group as it was, or None.
    """
    first, wanted = _launches_first(group), group["scalingConfig"]["desiredSize"]

    def end(error: Row | None) -> None:
        if error:
            revert()
        if first:
            _scale(call, group, group["scalingConfig"])
        then(error)

    # Before the template changes, with which the nodes that are there might not be any.
    roll = Roll(call, group, wanted=wanted + first, force=force, then=end)
    try:
        revert = launch()
    except ClientError as error:
        then(_refused(group, error))
        return
    if first:
        _scale_up(call, group)
    roll.go_on()


def _replace_nodes(call: Call, group: Row, launch: Callable[[], Callable[[], None]]) -> Row | None:
    """Launch from the new template from now on, and exchange the nodes.

    Args:
        call: in whose account and region.
        group: the node group.
        launch: as `_launch_from`.

    Returns:
        The update's error if new nodes do not join, which leaves the group as it was.
    """
    old = nodes_of(call, group)
    try:
        revert = launch()
    except ClientError as error:
        return _refused(group, error)
    first = _launches_first(group) and old
    if first:
        _scale_up(call, group)
    ready = len(nodes_of(call, group)) > len(old) or not first
    if ready:
        autoscaling = client("autoscaling", account=call.account, region=call.region)
        for instance in old:
            autoscaling.terminate_instance_in_auto_scaling_group(
                InstanceId=instance, ShouldDecrementDesiredCapacity=False
            )
        ready = not (old and issues_of(call, group))
    if not ready:
        revert()
    _scale(call, group, group["scalingConfig"])
    return None if ready else _error(_NOT_JOINING.format(group["nodegroupName"]), old)


def _refused(group: Row, error: ClientError) -> Row:
    """Return the update's error where a template is refused."""
    scaling_group = nodegroup_resources.scaling_group_of(group)
    return _error(error.response["Error"]["Message"], [scaling_group])


def _error(message: str, ids: list[str]) -> Row:
    return {"errorCode": "NodeCreationFailure", "errorMessage": message, "resourceIds": ids}


def _labels(before: Mapping[str, str], asked: Mapping[str, Any]) -> dict[str, str]:
    after = {**before, **asked.get("addOrUpdateLabels", {})}
    return {key: value for key, value in after.items() if key not in asked.get("removeLabels", [])}


def _taints(before: list[Row], asked: Mapping[str, Any]) -> list[Row]:
    new, gone = asked.get("addOrUpdateTaints", []), asked.get("removeTaints", [])
    replaced = [(each["key"], each["effect"]) for each in (*new, *gone)]
    kept = [each for each in before if (each["key"], each["effect"]) not in replaced]
    return [*kept, *new]

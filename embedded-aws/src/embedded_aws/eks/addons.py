"""Add-ons of clusters.

EKS API reference: what an add-on has; configuration values are JSON or YAML. terraform-aws-eks
(`before_compute`): what needs nodes does not get healthy before there are any. From memory: the
words. Inferred: the times; an add-on that has no node to run on is DEGRADED, and with an API server
one whose pods are not all ready (`addon_installs`).
"""

import time
from datetime import UTC, datetime
from typing import Any

import yaml
from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row
from embedded_aws.eks import roles
from embedded_aws.eks.addon_versions import addon_kind, checked_version
from embedded_aws.eks.calls import answers, in_use, invalid, invalid_request, later, not_found, page
from embedded_aws.eks.nodegroup_health import nodes_of
from embedded_aws.eks.pod_identities import add_association
from embedded_aws.eks.tables import addons, cluster_of, nodegroups, of_cluster, pod_identities
from embedded_aws.eks.updates import start_update
from embedded_aws.plain_yaml import PlainLoader

_CREATION_SECONDS, _DELETION_SECONDS = 60, 30
# Of this machine, however fast AWS's times pass: pods are scheduled and start in real time.
_PODS_SECONDS = 30
# States of node groups whose nodes have joined.
_WITH_NODES = ("ACTIVE", "UPDATING")


@answers("CreateAddon")
def create_addon(call: Call) -> dict[str, Any]:
    """Create an add-on; it becomes ACTIVE later, or DEGRADED without nodes."""
    given, cluster = call.params, cluster_of(call, call.params["clusterName"])
    kind = addon_kind(given["addonName"])
    if any(row["addonName"] == kind.name for row in of_cluster(addons(call), cluster["name"])):
        raise in_use("Addon already exists.")
    if cluster["status"] != "ACTIVE":
        raise invalid_request(f"Cluster {cluster['name']} is not ACTIVE: {cluster['status']}")
    version = checked_version(kind, given.get("addonVersion"), cluster["version"])
    _check(call)
    arn = call.arn("eks", f"addon/{cluster['name']}/{kind.name}/{mock_random.uuid4()}")
    now = datetime.now(UTC)
    namespace = given.get("namespaceConfig", {}).get("namespace", kind.namespace)
    row: Row = {
        "addonName": kind.name,
        "clusterName": cluster["name"],
        "status": "CREATING",
        "addonVersion": version,
        "health": {"issues": []},
        "addonArn": arn,
        "createdAt": now,
        "modifiedAt": now,
        "tags": dict(given.get("tags", {})),
        "publisher": "eks",
        "owner": "aws",
        "namespaceConfig": {"namespace": namespace},
        **_settings(call),
    }
    _associate(call, row)
    addons(call)[arn] = row
    later(_CREATION_SECONDS, lambda: _settle(call, row, time.monotonic()))
    return {"addon": _described(call, row)}


@answers("DescribeAddon")
def describe_addon(call: Call) -> dict[str, Any]:
    """Describe an add-on."""
    return {"addon": _described(call, _found(call))}


@answers("ListAddons")
def list_addons(call: Call) -> dict[str, Any]:
    """List the names of a cluster's add-ons."""
    cluster = cluster_of(call, call.params["clusterName"])["name"]
    names = [row["addonName"] for row in of_cluster(addons(call), cluster)]
    return page(call, "addons", sorted(names))


@answers("UpdateAddon")
def update_addon(call: Call) -> dict[str, Any]:
    """Change an add-on's version and settings."""
    row, given = _found(call), call.params
    kubernetes = cluster_of(call, row["clusterName"])["version"]
    asked = given.get("addonVersion")
    version = checked_version(
        addon_kind(row["addonName"]), asked or row["addonVersion"], kubernetes
    )
    _check(call)
    shown = {
        "AddonVersion": asked,
        "ServiceAccountRoleArn": given.get("serviceAccountRoleArn"),
        "ResolveConflicts": given.get("resolveConflicts"),
        "ConfigurationValues": given.get("configurationValues"),
        "PodIdentityAssociations": given.get("podIdentityAssociations"),
    }

    def finish() -> None:
        row.update({"addonVersion": version, **_settings(call), "modifiedAt": datetime.now(UTC)})
        if "podIdentityAssociations" in given:
            _dissociate(call, row)
            _associate(call, row)

    update = start_update(
        call,
        row,
        row["addonArn"],
        "AddonUpdate",
        {name: value for name, value in shown.items() if value is not None},
        seconds=_CREATION_SECONDS,
        finish=finish,
    )
    return {"update": update}


@answers("DeleteAddon")
def delete_addon(call: Call) -> dict[str, Any]:
    """Delete an add-on; it is gone later."""
    row = _found(call)
    if row["status"] == "DELETING":
        raise in_use(f"Addon {row['addonName']} is DELETING")
    row |= {"status": "DELETING", "preserve": call.params.get("preserve", False)}

    def finish() -> None:
        _dissociate(call, row)
        # The cluster's own deletion may have come first.
        addons(call).pop(row["addonArn"], None)

    later(_DELETION_SECONDS, finish)
    return {"addon": _described(call, row)}


def _found(call: Call) -> Row:
    cluster, name = cluster_of(call, call.params["clusterName"])["name"], call.params["addonName"]
    for row in of_cluster(addons(call), cluster):
        if row["addonName"] == name:
            return row
    raise not_found(f"No addon: {name} found in cluster: {cluster}")


def _settle(call: Call, row: Row, since: float) -> None:
    """Make an add-on active; with an API server, once its pods on the nodes there are have started.

    Args:
        call: in whose account and region.
        row: the add-on.
        since: when it could first be, by this machine's clock.
    """
    if row["status"] != "CREATING":
        return
    healthy = _is_healthy(call, row)
    starts = addon_kind(row["addonName"]).on_each_node or _has_nodes(call, row)
    waits = healthy is None or (starts and not healthy)
    if waits and time.monotonic() - since < _PODS_SECONDS:
        later(_CREATION_SECONDS, lambda: _settle(call, row, since))
    else:
        row["status"] = "ACTIVE"


def _has_nodes(call: Call, row: Row) -> bool:
    groups = of_cluster(nodegroups(call), row["clusterName"])
    return any(nodes_of(call, each) for each in groups if each["status"] in _WITH_NODES)


def _is_healthy(call: Call, row: Row) -> bool | None:
    """Whether its pods run, or would where there is no API server; None before it is applied."""
    healthy: dict[str, bool] | None = cluster_of(call, row["clusterName"]).get("healthyAddons")
    if healthy is not None:
        return healthy.get(row["addonName"])
    return addon_kind(row["addonName"]).on_each_node or _has_nodes(call, row)


def _described(call: Call, row: Row) -> Row:
    """Return an add-on as DescribeAddon shows it, with what its health is now."""
    row = {key: value for key, value in row.items() if key != "preserve"}
    if row["status"] != "ACTIVE" or _is_healthy(call, row):
        return row
    message = "The add-on is unhealthy because it doesn't have the desired number of replicas."
    issue = {"code": "InsufficientNumberOfReplicas", "message": message, "resourceIds": []}
    return {**row, "status": "DEGRADED", "health": {"issues": [issue]}}


def _check(call: Call) -> None:
    """Refuse settings that EKS does not take."""
    given = call.params
    if values := given.get("configurationValues"):
        wrong = "ConfigurationValue provided in request is not supported"
        try:
            parsed = yaml.load(values, Loader=PlainLoader)
        except yaml.YAMLError as error:
            raise invalid(f"{wrong}: {error}") from error
        if not isinstance(parsed, dict):
            raise invalid(f"{wrong}: it is no object")
    role = given.get("serviceAccountRoleArn")
    if role and roles.role_of(call, role) is None:
        raise invalid(f"The serviceAccountRoleArn {role} does not exist")
    for each in given.get("podIdentityAssociations", []):
        roles.check_trust(call, each["roleArn"], roles.PODS)


def _settings(call: Call) -> Row:
    names = ("configurationValues", "serviceAccountRoleArn")
    return {name: call.params[name] for name in names if name in call.params}


def _associate(call: Call, row: Row) -> None:
    """Make the pod identity associations that a call asks for."""
    row["podIdentityAssociations"] = [
        add_association(
            call,
            row["clusterName"],
            row["namespaceConfig"]["namespace"],
            each["serviceAccount"],
            each["roleArn"],
            row["addonArn"],
        )["associationArn"]
        for each in call.params.get("podIdentityAssociations", [])
    ]


def _dissociate(call: Call, row: Row) -> None:
    """Delete an add-on's pod identity associations."""
    for arn in row["podIdentityAssociations"]:
        pod_identities(call).pop(arn, None)

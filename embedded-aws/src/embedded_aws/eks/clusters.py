"""Clusters: created, described, deleted.

EKS API reference: what a new cluster has, that a cluster with node groups is not deleted, nor one
with deletion protection. Terraform's logs in public: a creation takes 8 to 11 minutes; from memory:
a deletion takes three. From memory: the words of refusals, also those of other modules here.
Inferred: a cluster whose role may not do what AmazonEKSClusterPolicy allows has FAILED.
"""

from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row
from embedded_aws.eks import cluster_network, roles
from embedded_aws.eks.access_entries import add_entry
from embedded_aws.eks.calls import answers, in_use, invalid, invalid_request, later, page
from embedded_aws.eks.calls import unsupported as not_done
from embedded_aws.eks.cluster_versions import ClusterVersion, supported_version
from embedded_aws.eks.control_plane_logs import make_log_group
from embedded_aws.eks.control_planes import control_planes
from embedded_aws.eks.quotas import CLUSTERS, check_quota
from embedded_aws.eks.tables import (
    access_entries,
    addons,
    cluster_of,
    clusters,
    nodegroups,
    of_cluster,
    pod_identities,
)
from embedded_aws.kubernetes.certificates import new_authority

CREATION_SECONDS, DELETION_SECONDS = 540, 180
LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_ADMINISTRATOR = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
_HIDDEN = ("authority", "healthyAddons", "leaving", "ready", "selfManagedAddons")
_REFUSED = ("outpostConfig", "remoteNetworkConfig")
# Settings that DescribeCluster repeats, and that have no effect without a control plane.
KEPT = (
    *("controlPlaneScalingConfig", "kubeApiServerConfig", "kubeControllerManagerConfig"),
    *("kubeSchedulerConfig", "zonalShiftConfig"),
)


@answers("CreateCluster")
def create_cluster(call: Call) -> dict[str, Any]:
    """Create a cluster; it becomes ACTIVE later."""
    given, name = call.params, call.params["name"]
    if name in clusters(call):
        raise in_use(f"Cluster already exists with name: {name}")
    check_quota(call, CLUSTERS, len(clusters(call)) + 1)
    version = supported_version(given.get("version"))
    if planes := control_planes():
        planes.check(version.name)
    check_unsupported(given)
    _check_keys(call)
    roles.check_trust(call, given["roleArn"], roles.CLUSTER)
    roles.check_passable(call, given["roleArn"], roles.CLUSTER)
    asked = given["resourcesVpcConfig"]
    groups = asked.get("securityGroupIds", [])
    subnets = cluster_network.check_network(call, asked.get("subnetIds", []), groups)
    cidr = cluster_network.service_range(
        call, given.get("kubernetesNetworkConfig", {}).get("serviceIpv4Cidr"), subnets[0].vpc_id
    )
    vpc = endpoint_access({**asked, "securityGroupIds": groups, "vpcId": subnets[0].vpc_id})
    roles.make_service_role(call, roles.CLUSTER, "AmazonEKSServiceRolePolicy")
    cluster = _new_cluster(call, version, vpc, cidr)
    clusters(call)[name] = cluster

    def finish_later(failure: str = "") -> None:
        later(CREATION_SECONDS, lambda: _finish_creation(call, cluster, failure))

    if planes:
        planes.begin(call, cluster, then=finish_later)
    else:
        finish_later()
    return {"cluster": described(cluster)}


@answers("DescribeCluster")
def describe_cluster(call: Call) -> dict[str, Any]:
    """Describe a cluster."""
    return {"cluster": described(cluster_of(call, call.params["name"]))}


@answers("ListClusters")
def list_clusters(call: Call) -> dict[str, Any]:
    """List the names of clusters."""
    return page(call, "clusters", sorted(clusters(call)))


@answers("DeleteCluster")
def delete_cluster(call: Call) -> dict[str, Any]:
    """Delete a cluster without node groups; it is gone later."""
    name = call.params["name"]
    cluster = cluster_of(call, name)
    if cluster["deletionProtection"]:
        raise invalid_request(
            f"Cluster {name} has deletion protection enabled. Disable deletion protection first"
        )
    if of_cluster(nodegroups(call), name):
        raise in_use("Cluster has nodegroups attached")
    if cluster["status"] not in ("ACTIVE", "FAILED"):
        raise in_use(f"Cannot DeleteCluster because cluster {name} is {cluster['status']}")
    cluster["status"] = "DELETING"
    later(DELETION_SECONDS, lambda: _finish_deletion(call, cluster))
    return {"cluster": described(cluster)}


def described(cluster: Row) -> Row:
    """Return a cluster as DescribeCluster shows it.

    API reference: a cluster that is not active yet has no endpoint and no certificate.
    """
    row = {key: value for key, value in cluster.items() if key not in _HIDDEN}
    if cluster["status"] == "CREATING":
        for key in ("endpoint", "certificateAuthority", "identity"):
            row.pop(key)
        row["resourcesVpcConfig"] = {
            key: value
            for key, value in row["resourcesVpcConfig"].items()
            if key != "clusterSecurityGroupId"
        }
    return row


def check_unsupported(given: Mapping[str, Any]) -> None:
    """Refuse what a cluster without Kubernetes, or on this machine, cannot have."""
    for name in _REFUSED:
        if given.get(name):
            raise not_done(name)
    network = given.get("kubernetesNetworkConfig", {})
    if network.get("ipFamily", "ipv4") != "ipv4":
        raise not_done("clusters with the IP family ipv6")
    compute = given.get("computeConfig", {}).get("enabled")
    storage = given.get("storageConfig", {}).get("blockStorage", {}).get("enabled")
    if compute or storage or network.get("elasticLoadBalancing", {}).get("enabled"):
        raise not_done("Auto Mode")


def endpoint_access(vpc: Row) -> Row:
    """Return a resourcesVpcConfig with the defaults of the endpoint's access.

    Raises:
        Refusal: nobody would reach the endpoint, or a range is refused.
    """
    public = vpc.get("endpointPublicAccess", True)
    filled = {
        "endpointPrivateAccess": False,
        **vpc,
        "endpointPublicAccess": public,
        "publicAccessCidrs": (vpc.get("publicAccessCidrs") or ["0.0.0.0/0"]) if public else [],
    }
    cluster_network.check_public_ranges(filled["publicAccessCidrs"])
    if not public and not filled["endpointPrivateAccess"]:
        raise invalid("Private and public endpoint access cannot be false")
    return filled


def log_setups(asked: Mapping[str, Any], before: Collection[str] = ()) -> list[Row]:
    """Return what is logged and what is not.

    Args:
        asked: the argument `logging`.
        before: the types that are logged so far.

    Raises:
        Refusal: there is no such type.
    """
    on = set(before)
    for setup in asked.get("clusterLogging", []):
        types = set(setup.get("types", []))
        if unknown := sorted(types.difference(LOG_TYPES)):
            raise invalid(f"Unknown log type {unknown[0]}; use one of {', '.join(LOG_TYPES)}")
        on = on | types if setup.get("enabled") else on - types
    setups = [
        {"types": [each for each in LOG_TYPES if each in on], "enabled": True},
        {"types": [each for each in LOG_TYPES if each not in on], "enabled": False},
    ]
    return [setup for setup in setups if setup["types"]]


def _check_keys(call: Call) -> None:
    """Refuse keys for secrets that are not there."""
    for each in call.params.get("encryptionConfig", []):
        if each.get("resources") != ["secrets"]:
            raise invalid("The resources of encryptionConfig must be: secrets")
        arn = each.get("provider", {}).get("keyArn", "")
        if arn not in [key.arn for key in call.backend("kms").keys.values()]:
            raise invalid(f"The keyArn in encryptionConfig provider: {arn} is invalid")


def _new_cluster(call: Call, version: ClusterVersion, vpc: Row, cidr: str) -> Row:
    given, name = call.params, call.params["name"]
    identifier = mock_random.get_random_hex(32).upper()
    authority = new_authority()
    access = {
        "bootstrapClusterCreatorAdminPermissions": True,
        "authenticationMode": "CONFIG_MAP",
        **given.get("accessConfig", {}),
    }
    # Documented: the creator is an administrator in any mode, as an access entry where there are.
    group_id = cluster_network.make_security_group(call, name, version.number, vpc["vpcId"])
    cluster: Row = {
        "name": name,
        "arn": call.arn("eks", f"cluster/{name}"),
        "createdAt": datetime.now(UTC),
        "version": version.name,
        "roleArn": given["roleArn"],
        "resourcesVpcConfig": {**vpc, "clusterSecurityGroupId": group_id},
        "kubernetesNetworkConfig": {
            "serviceIpv4Cidr": cidr,
            "ipFamily": "ipv4",
            "elasticLoadBalancing": {"enabled": False},
        },
        "logging": {"clusterLogging": log_setups(given.get("logging", {}))},
        "status": "CREATING",
        "endpoint": f"https://{identifier}.gr7.{call.region}.eks.amazonaws.com",
        "identity": {
            "oidc": {"issuer": f"https://oidc.eks.{call.region}.amazonaws.com/id/{identifier}"}
        },
        "certificateAuthority": {"data": b64encode(authority.certificate.encode()).decode()},
        "authority": asdict(authority),
        "selfManagedAddons": given.get("bootstrapSelfManagedAddons", True),
        "platformVersion": "eks.1",
        "tags": dict(given.get("tags", {})),
        "health": {"issues": []},
        "accessConfig": access,
        "upgradePolicy": given.get("upgradePolicy") or {"supportType": "EXTENDED"},
        "deletionProtection": given.get("deletionProtection", False),
        **{name: given[name] for name in ("encryptionConfig", *KEPT) if name in given},
    }
    cluster_network.make_interfaces(call, name, cluster["resourcesVpcConfig"])
    if access["bootstrapClusterCreatorAdminPermissions"] and access["authenticationMode"] != (
        "CONFIG_MAP"
    ):
        scope = {"type": "cluster", "namespaces": []}
        add_entry(
            call,
            cluster,
            roles.caller_arn(call),
            policies=[{"policyArn": _ADMINISTRATOR, "accessScope": scope}],
        )
    return cluster


def _finish_creation(call: Call, cluster: Row, failure: str) -> None:
    if failure:
        _fail(cluster, "InternalFailure", failure, [])
        return
    if missing := roles.missing_of_cluster(call, cluster["roleArn"]):
        message = f"The cluster role is not allowed to perform: {', '.join(missing)}"
        _fail(cluster, "AccessDenied", message, [cluster["roleArn"]])
        return
    cluster["status"] = "ACTIVE"
    make_log_group(call, cluster)


def _fail(cluster: Row, code: str, message: str, ids: list[str]) -> None:
    cluster["status"] = "FAILED"
    issue = {"code": code, "message": message, "resourceIds": ids}
    cluster["health"] = {"issues": [issue]}


def _finish_deletion(call: Call, cluster: Row) -> None:
    name = cluster["name"]
    if planes := control_planes():
        planes.end(cluster)
    cluster_network.remove_interfaces(call, name)
    cluster_network.remove_security_group(
        call, cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    )
    for rows in (addons, access_entries, pod_identities):
        for arn in [arn for arn, row in rows(call).items() if row["clusterName"] == name]:
            del rows(call)[arn]
    del clusters(call)[name]

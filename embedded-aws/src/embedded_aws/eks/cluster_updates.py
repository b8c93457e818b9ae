"""Updates of clusters: their configuration and their version.

EKS API reference: one kind of change at a time; a version one higher than the cluster's; from
CONFIG_MAP to API_AND_CONFIG_MAP to API, never back. User guide, "Update existing cluster to new
Kubernetes version": node groups may be three versions older. API reference, VpcConfigRequest:
CUSTOMER_ROUTED is never left. From memory: the words. Inferred: the times.
"""

from collections.abc import Callable, Mapping
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.eks import cluster_network
from embedded_aws.eks.calls import answers, invalid, invalid_request, unsupported
from embedded_aws.eks.cluster_versions import supported_version
from embedded_aws.eks.clusters import KEPT, check_unsupported, endpoint_access, log_setups
from embedded_aws.eks.control_plane_logs import make_log_group
from embedded_aws.eks.control_planes import control_planes
from embedded_aws.eks.tables import cluster_of, nodegroups, of_cluster
from embedded_aws.eks.updates import at_once, failed, start_update

_CONFIG_SECONDS, _VERSION_SECONDS = 120, 600
_MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
_OLDEST_NODES = 3
# What an update changes, by its type.
_TYPES = {
    "accessConfig": "AccessConfigUpdate",
    "controlPlaneScalingConfig": "ControlPlaneScalingConfigUpdate",
    "deletionProtection": "DeletionProtectionUpdate",
    "kubeApiServerConfig": "ControlPlaneComponentConfigUpdate",
    "kubeControllerManagerConfig": "ControlPlaneComponentConfigUpdate",
    "kubeSchedulerConfig": "ControlPlaneComponentConfigUpdate",
    "logging": "LoggingUpdate",
    "resourcesVpcConfig": "VpcConfigUpdate",
    "upgradePolicy": "UpgradePolicyUpdate",
    "zonalShiftConfig": "ZonalShiftConfigUpdate",
}
_ENDPOINT = ("endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs")
_PARAMS = {
    "endpointPrivateAccess": "EndpointPrivateAccess",
    "endpointPublicAccess": "EndpointPublicAccess",
    "publicAccessCidrs": "PublicAccessCidrs",
    "subnetIds": "Subnets",
    "securityGroupIds": "SecurityGroups",
    "controlPlaneEgressMode": "ControlPlaneEgressMode",
}


@answers("UpdateClusterConfig")
def update_cluster_config(call: Call) -> dict[str, Any]:
    """Change one thing of a cluster."""
    cluster = cluster_of(call, call.params["name"])
    check_unsupported(call.params)
    wanted = {name: call.params[name] for name in _TYPES if name in call.params}
    kinds = {_TYPES[name] for name in wanted}
    if len(kinds) != 1:
        raise invalid("Only one type of update can be allowed, and one is needed.")
    [kind] = kinds
    name, value = next(iter(wanted.items()))
    match name:
        case "resourcesVpcConfig":
            kind, params, changed = _vpc_change(call, cluster, value)
        case "logging":
            on = {
                each
                for setup in cluster["logging"]["clusterLogging"]
                for each in setup["types"]
                if setup["enabled"]
            }
            setups = log_setups(value, on)
            if setups == cluster["logging"]["clusterLogging"]:
                raise invalid("No changes needed for the logging config provided")
            params, changed = {"ClusterLogging": value}, {"logging": {"clusterLogging": setups}}
        case "accessConfig":
            params, changed = _mode_change(cluster, value["authenticationMode"])
        case "deletionProtection" | "upgradePolicy" | "zonalShiftConfig":
            params, changed = {f"{name[0].upper()}{name[1:]}": value}, {name: value}
        case "controlPlaneScalingConfig":
            before = cluster.get(name, {"tier": "standard"})["tier"]
            params = {"PreviousTier": before, "UpdatedTier": value["tier"]}
            changed = {name: value}
        case _:
            params = {f"{each[0].upper()}{each[1:]}": wanted[each] for each in wanted}
            changed = {each: wanted[each] for each in KEPT if each in wanted}

    def finish() -> None:
        cluster.update(changed)
        make_log_group(call, cluster)
        if "resourcesVpcConfig" in changed:
            cluster_network.make_interfaces(call, cluster["name"], cluster["resourcesVpcConfig"])

    update = start_update(
        call, cluster, cluster["arn"], kind, params, seconds=_CONFIG_SECONDS, finish=finish
    )
    return {"update": update}


@answers("UpdateClusterVersion")
def update_cluster_version(call: Call) -> dict[str, Any]:
    """Change a cluster's version to the next one."""
    cluster = cluster_of(call, call.params["name"])
    version = supported_version(call.params["version"])
    before, after = (
        tuple(map(int, each.split("."))) for each in (cluster["version"], version.name)
    )
    if after < before:
        raise unsupported("rollbacks of the version")
    if after == before:
        raise invalid(f"Cluster is already at version {version.name}")
    if after[1] > before[1] + 1:
        raise invalid(
            f"Unsupported Kubernetes minor version update from {cluster['version']} to "
            f"{version.name}"
        )
    planes = control_planes()
    if planes:
        planes.check(version.name)
    for group in of_cluster(nodegroups(call), cluster["name"]):
        nodes = group.get("version")
        if nodes and after[1] - int(nodes.partition(".")[2]) > _OLDEST_NODES:
            raise invalid_request(
                f"Nodegroup {group['nodegroupName']} must be updated to within "
                f"{_OLDEST_NODES} minor versions of {version.name} before the cluster is"
            )

    def finish() -> None:
        cluster["version"] = version.name

    def begin(then: Callable[[Row | None], None]) -> None:
        if planes:
            planes.update(cluster, version.name, lambda why: then(failed(why) if why else None))
        else:
            at_once(then)

    update = start_update(
        call,
        cluster,
        cluster["arn"],
        "VersionUpdate",
        {"Version": version.name, "PlatformVersion": "eks.1"},
        seconds=_VERSION_SECONDS,
        begin=begin,
        finish=finish,
    )
    return {"update": update}


def _vpc_change(call: Call, cluster: Row, asked: Mapping[str, Any]) -> tuple[str, Row, Row]:
    """Return the type of an update of the network, its parameters, and what it changes."""
    vpc = cluster["resourcesVpcConfig"]
    of_endpoint = set(asked) & set(_ENDPOINT)
    if of_endpoint and set(asked) - of_endpoint:
        raise invalid("Only one type of update can be allowed, and one is needed.")
    was, mode = (
        vpc.get("controlPlaneEgressMode", "AWS_MANAGED"),
        asked.get("controlPlaneEgressMode"),
    )
    if mode and was == "CUSTOMER_ROUTED" and mode != was:
        raise invalid(f"The controlPlaneEgressMode cannot change from {was} to {mode}")
    changed = endpoint_access({**vpc, **asked})
    if changed == vpc:
        raise invalid("Cluster is already at the desired configuration")
    if not of_endpoint:
        subnets = cluster_network.check_network(
            call, changed["subnetIds"], changed["securityGroupIds"]
        )
        if subnets[0].vpc_id != vpc["vpcId"]:
            raise invalid("Provided subnets belong to different VPC than the existing subnets")
    kind = "EndpointAccessUpdate" if of_endpoint else "VpcConfigUpdate"
    params = {_PARAMS[name]: value for name, value in asked.items()}
    return kind, params, {"resourcesVpcConfig": changed}


def _mode_change(cluster: Row, mode: str) -> tuple[Row, Row]:
    """Return the parameters of an update of the authentication mode, and what it changes."""
    access = cluster["accessConfig"]
    before = access["authenticationMode"]
    if _MODES.index(mode) - _MODES.index(before) != 1:
        raise invalid(f"Unsupported authentication mode update from {before} to {mode}")
    return {"AuthenticationMode": mode}, {"accessConfig": {**access, "authenticationMode": mode}}

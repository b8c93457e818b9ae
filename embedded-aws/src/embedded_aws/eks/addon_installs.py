"""The add-ons of one cluster in its API server: applied, updated, removed, and how they are.

EKS API reference: DeleteAddon removes the software, unless told to `preserve` it; CreateCluster
installs the VPC CNI, kube-proxy and coredns by itself, unless `bootstrapSelfManagedAddons` is
false. EKS user guide, "Amazon EKS add-ons": EKS owns the fields that it applies. Inferred: an
add-on is healthy when all pods that its workloads want are ready.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.eks.addon_objects import objects_of
from embedded_aws.eks.addon_versions import addon_kind
from embedded_aws.eks.calls import guard
from embedded_aws.eks.tables import addons, of_cluster
from embedded_aws.kubernetes.client import ApiClient, ApiRefusal

_SELF_MANAGED = ("vpc-cni", "kube-proxy", "coredns")
_APPLY = "application/apply-patch+yaml"
_PATHS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "Service": "/api/v1/namespaces/{}/services",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
}
_WORKLOADS = ("DaemonSet", "Deployment")
# What of an add-on its objects are made of.
_MADE_OF = ("addonVersion", "configurationValues", "namespaceConfig")


class AddonInstalls:
    """The add-ons of one cluster.

    Args:
        call: in whose account and region.
        cluster: it.
        client: an administrator's, of its API server.
    """

    def __init__(self, call: Call, cluster: Row, client: ApiClient) -> None:
        self._call = call
        self._cluster = cluster
        self._client = client
        self._objects: dict[str, list[Row]] = {}
        self._rows: dict[str, Row] = {}
        self._applied: dict[str, list[Any]] = {}
        self._missing = list(_SELF_MANAGED if cluster["selfManagedAddons"] else ())
        # Read by whoever describes an add-on: of each that is applied, whether its pods are ready.
        cluster["healthyAddons"] = {}

    def look(self) -> None:
        """Apply add-ons that are new or changed, remove those that are deleted.

        Raises:
            ApiRefusal: the API server does not do it.
            OSError: it does not answer.
        """
        with guard:
            rows = of_cluster(addons(self._call), self._cluster["name"])
            there = {row["addonName"]: row for row in rows if row["status"] != "DELETING"}
            made_of = {name: [row.get(each) for each in _MADE_OF] for name, row in there.items()}
        while self._missing:
            self._apply(_self_managed(self._missing[0], self._cluster["version"]))
            del self._missing[0]
        for name in self._rows.keys() - there.keys():
            self._remove(name)
        refused: list[ApiRefusal] = []
        for name, row in there.items():
            self._rows[name] = row
            if self._applied.get(name) != made_of[name]:
                try:
                    self._apply(row)
                except ApiRefusal as error:
                    # The others are not held up; it is tried again.
                    refused.append(error)
                else:
                    self._applied[name] = made_of[name]
        self._cluster["healthyAddons"] = {
            name: name in self._applied and all(map(self._is_ready, self._objects[name]))
            for name in there
        }
        if refused:
            raise refused[0]

    def _apply(self, row: Row) -> None:
        cidr = self._cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"]
        objects = list(objects_of(row, region=self._call.region, service_cidr=cidr))
        for each in objects:
            path = f"{_path(each)}?fieldManager=eks&force=true"
            self._client.call("PATCH", path, each, content_type=_APPLY)
        self._objects[row["addonName"]] = objects

    def _remove(self, name: str) -> None:
        stay = self._rows[name].get("preserve")
        for each in () if stay else _removed(self._objects.get(name, [])):
            try:
                self._client.call("DELETE", _path(each))
            except ApiRefusal as error:
                # Somebody else has deleted it.
                if error.code != 404:
                    raise
        for known in (self._rows, self._objects, self._applied):
            known.pop(name, None)

    def _is_ready(self, applied: Row) -> bool:
        if applied["kind"] not in _WORKLOADS:
            return True
        try:
            found: Mapping[str, Any] = self._client.call("GET", _path(applied))
        except ApiRefusal as error:
            if error.code != 404:
                raise
            return False
        status = found.get("status", {})
        if status.get("observedGeneration") != found["metadata"]["generation"]:
            return False
        if applied["kind"] == "DaemonSet":
            return bool(status["numberReady"] >= status["desiredNumberScheduled"])
        return bool(status.get("readyReplicas", 0) >= found["spec"]["replicas"])


def _self_managed(name: str, kubernetes: str) -> Row:
    """Return an add-on that a new cluster has without there being a row for it."""
    kind = addon_kind(name)
    return {
        "addonName": name,
        "addonVersion": kind.version_for(kubernetes),
        "namespaceConfig": {"namespace": kind.namespace},
    }


def _removed(objects: list[Row]) -> Iterator[Row]:
    """Yield what goes with an add-on: not its namespace, where others may have something."""
    return (each for each in reversed(objects) if each["kind"] != "Namespace")


def _path(each: Row) -> str:
    metadata = each["metadata"]
    return f"{_PATHS[each['kind']].format(metadata.get('namespace'))}/{metadata['name']}"

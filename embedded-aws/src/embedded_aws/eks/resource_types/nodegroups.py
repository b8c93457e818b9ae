"""AWS::EKS::Nodegroup.

Documented: DesiredSize in a template sets the size at each update. Inferred: without the sizes, an
update leaves them.
"""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import changed, present
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.eks.resource_types.handler import EksHandler


@resource("AWS::EKS::Nodegroup")
class Nodegroup(EksHandler):
    """A managed node group; its Ref is the cluster's name, `/` and its own."""

    parts = "clusterName", "/", "nodegroupName"
    creation = "CreateNodegroup", "nodegroup.nodegroupName"
    reading = "DescribeNodegroup", "nodegroup"
    deletion = "DeleteNodegroup"
    name, name_limit = "NodegroupName", 63
    later = ("ForceUpdateEnabled",)
    attributes = {"Arn": "nodegroupArn"}

    _settings = ("NodeRepairConfig", "ScalingConfig", "UpdateConfig", "WarmPoolConfig")

    def _create(self, request: Request) -> str:
        return f"{request.properties['ClusterName']}/{super()._create(request)}"

    def is_ready(self, request: Request, physical_id: str) -> bool:
        """Return whether the nodes are there; a group that has lost some is complete, too."""
        described = self._described(request, physical_id)
        return described["status"] == "DEGRADED" or super().is_ready(request, physical_id)

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, "LaunchTemplate", "ReleaseVersion", "Version"):
            wanted = present(request.properties, "LaunchTemplate", "ReleaseVersion", "Version")
            self._update(request, physical_id, "UpdateNodegroupVersion", wanted)
        if changed(request, before, "Labels", "Taints", *self._settings):
            wanted = {
                **present(request.properties, *self._settings),
                "Labels": _changed_labels(before, request.properties),
                "Taints": _changed_taints(before, request.properties),
            }
            self._update(request, physical_id, "UpdateNodegroupConfig", wanted)

    def _update(
        self, request: Request, physical_id: str, operation: str, wanted: Properties
    ) -> None:
        cluster, name = physical_id.split("/")
        named = {**wanted, "ClusterName": cluster, "NodegroupName": name}
        update = self._call(request, operation, named)["update"]["id"]
        about = {"name": cluster, "nodegroupName": name, "updateId": update}
        eks = request.client(self.service)
        self.wait(lambda: eks.describe_update(**about)["update"]["status"] != "InProgress")
        self.refuse_failed(eks.describe_update(**about)["update"])

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {**_in_capitals(self._described(request, physical_id)), "Id": physical_id} | {
            "Arn": self._described(request, physical_id)["nodegroupArn"]
        }


def _in_capitals(described: Properties) -> dict[str, Any]:
    """Return what describes a node group, by the names that Fn::GetAtt has for it."""
    named: dict[str, Any] = {}
    for name, value in described.items():
        spelled = f"{name[0].upper()}{name[1:]}"
        named[spelled] = value
        if isinstance(value, dict):
            named |= {f"{spelled}.{part}": it for part, it in _in_capitals(value).items()}
    return named


def _changed_labels(before: Properties, now: Properties) -> dict[str, Any]:
    old, new = before.get("Labels", {}), now.get("Labels", {})
    return {"addOrUpdateLabels": new, "removeLabels": [key for key in old if key not in new]}


def _changed_taints(before: Properties, now: Properties) -> dict[str, Any]:
    old, new = before.get("Taints", []), now.get("Taints", [])
    kept = [(each.get("Key"), each.get("Effect")) for each in new]
    gone = [each for each in old if (each.get("Key"), each.get("Effect")) not in kept]
    return {"addOrUpdateTaints": new, "removeTaints": gone}

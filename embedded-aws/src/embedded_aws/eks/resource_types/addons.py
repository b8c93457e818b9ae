"""AWS::EKS::Addon.

Inferred: CloudFormation waits for an add-on that is DEGRADED, up to its time-out, which the schema
does not name.
"""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import changed, present
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.eks.resource_types.handler import EksHandler


@resource("AWS::EKS::Addon")
class Addon(EksHandler):
    """An add-on; its Ref is the cluster's name, `|` and its own."""

    parts = "clusterName", "|", "addonName"
    creation = "CreateAddon", "addon.addonName"
    reading = "DescribeAddon", "addon"
    deletion = "DeleteAddon"
    later = ("PreserveOnDelete",)
    attributes = {"Arn": "addonArn"}

    _changeable = (
        *("AddonVersion", "ServiceAccountRoleArn", "ConfigurationValues"),
        *("PodIdentityAssociations", "ResolveConflicts"),
    )

    def _create(self, request: Request) -> str:
        return f"{request.properties['ClusterName']}|{super()._create(request)}"

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, *self._changeable):
            named = present(request.properties, "ClusterName", "AddonName", *self._changeable)
            self._call(request, "UpdateAddon", named)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Arn": self._described(request, physical_id)["addonArn"]}

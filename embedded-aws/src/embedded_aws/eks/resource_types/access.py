"""AWS::EKS::AccessEntry and AWS::EKS::PodIdentityAssociation."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, differences, present
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::EKS::AccessEntry")
class AccessEntry(Handler):
    """An access entry; its Ref is the principal's ARN, `|` and the cluster's name."""

    service = "eks"
    tagging = Tagging(target="resourceArn", by="AccessEntryArn", form=dict)
    parts = "principalArn", "|", "clusterName"
    creation = "CreateAccessEntry", "accessEntry.principalArn"
    reading = "DescribeAccessEntry", "accessEntry"
    deletion = "DeleteAccessEntry"
    later = ("AccessPolicies",)
    attributes = {"AccessEntryArn": "accessEntryArn"}

    def _create(self, request: Request) -> str:
        return f"{super()._create(request)}|{request.properties['ClusterName']}"

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, "KubernetesGroups", "Username"):
            # What the template no longer has is empty then.
            wanted = {"KubernetesGroups": [], **present(request.properties, "Username")}
            wanted |= present(request.properties, "KubernetesGroups")
            self._call(request, "UpdateAccessEntry", {**wanted, **_named(request)})

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        gone, new = differences(
            before.get("AccessPolicies", []), request.properties.get("AccessPolicies", [])
        )
        kept = {each["PolicyArn"] for each in new}
        for policy in gone:
            if policy["PolicyArn"] not in kept:
                named = {**_named(request), **present(policy, "PolicyArn")}
                self._call(request, "DisassociateAccessPolicy", named)
        for policy in new:
            self._call(request, "AssociateAccessPolicy", {**_named(request), **policy})


def _named(request: Request) -> dict[str, Any]:
    return present(request.properties, "ClusterName", "PrincipalArn")


@resource("AWS::EKS::PodIdentityAssociation")
class PodIdentityAssociation(Handler):
    """A pod identity association; its Ref is its ARN."""

    service = "eks"
    tagging = Tagging(target="resourceArn", form=dict)
    creation = "CreatePodIdentityAssociation", "association.associationArn"
    reading = "DescribePodIdentityAssociation", "association"
    deletion = "DeletePodIdentityAssociation"
    attributes = {
        "AssociationArn": "associationArn",
        "AssociationId": "associationId",
        "ExternalId": "externalId",
    }

    _changeable = ("DisableSessionTags", "Policy", "RoleArn", "TargetRoleArn")

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, *self._changeable):
            wanted = present(request.properties, *self._changeable)
            operation = "UpdatePodIdentityAssociation"
            self._call(request, operation, {**wanted, **_address_of(physical_id)})

    def _address(self, request: Request, operation: str, physical_id: str) -> Any:
        return self._call(request, operation, _address_of(physical_id))


def _address_of(arn: str) -> dict[str, str]:
    """Return the arguments that name an association."""
    _, cluster, identifier = arn.split("/")
    return {"clusterName": cluster, "associationId": identifier}

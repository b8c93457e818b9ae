"""IAM roles and instance profiles."""

from collections.abc import Mapping
from typing import Any, ClassVar

from embedded_aws.cloudformation.handlers.handler import Handler, differences, forgiving
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::IAM::Role")
class Role(Handler):
    """A role with its inline and attached policies; its Ref is the role's name."""

    service = "iam"
    target, name, name_limit = "RoleName", "RoleName", 64
    creation = "CreateRole", "RoleName"
    reading = "GetRole", "Role"
    later = ("ManagedPolicyArns", "Policies")
    changing = "UpdateRole"
    defaults: ClassVar[Mapping[str, Any]] = {"Description": "", "MaxSessionDuration": 3600}
    settings: ClassVar[Mapping[str, Setting]] = {
        "AssumeRolePolicyDocument": Setting(
            put="UpdateAssumeRolePolicy", argument="PolicyDocument"
        ),
        "PermissionsBoundary": Setting(
            put="PutRolePermissionsBoundary", remove="DeleteRolePermissionsBoundary"
        ),
    }
    tagging = Tagging(target="RoleName", tag="TagRole", untag="UntagRole")

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        iam = request.client("iam")
        now = request.properties
        gone, new = differences(
            before.get("ManagedPolicyArns", []), now.get("ManagedPolicyArns", [])
        )
        for arn in gone:
            with forgiving():
                iam.detach_role_policy(RoleName=physical_id, PolicyArn=arn)
        for arn in new:
            iam.attach_role_policy(RoleName=physical_id, PolicyArn=arn)
        gone, _ = differences(_inline(before), _inline(now))
        for name in gone:
            with forgiving():
                iam.delete_role_policy(RoleName=physical_id, PolicyName=name)
        for policy in now.get("Policies", []):
            self._call(request, "PutRolePolicy", policy, RoleName=physical_id)

    def _delete(self, request: Request, physical_id: str) -> None:
        # Only this resource's policies are removed; with others, IAM refuses the deletion.
        iam = request.client("iam")
        for name in iam.list_role_policies(RoleName=physical_id)["PolicyNames"]:
            if name in _inline(request.properties):
                iam.delete_role_policy(RoleName=physical_id, PolicyName=name)
        own = request.properties.get("ManagedPolicyArns", [])
        for policy in iam.list_attached_role_policies(RoleName=physical_id)["AttachedPolicies"]:
            if policy["PolicyArn"] in own:
                iam.detach_role_policy(RoleName=physical_id, PolicyArn=policy["PolicyArn"])
        iam.delete_role(RoleName=physical_id)


def _inline(properties: Properties) -> list[str]:
    """Return the names of a role's inline policies."""
    return [policy["PolicyName"] for policy in properties.get("Policies", [])]


@resource("AWS::IAM::InstanceProfile")
class InstanceProfile(Handler):
    """An instance profile; its Ref is the profile's name."""

    service = "iam"
    target, name, name_limit = "InstanceProfileName", "InstanceProfileName", 128
    creation = "CreateInstanceProfile", "InstanceProfileName"
    reading = "GetInstanceProfile", "InstanceProfile"
    later = ("Roles",)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        iam = request.client("iam")
        gone, new = differences(before.get("Roles", []), request.properties["Roles"])
        for role in gone:
            with forgiving():
                iam.remove_role_from_instance_profile(
                    InstanceProfileName=physical_id, RoleName=role
                )
        for role in new:
            iam.add_role_to_instance_profile(InstanceProfileName=physical_id, RoleName=role)

    def _delete(self, request: Request, physical_id: str) -> None:
        iam = request.client("iam")
        for role in self._described(request, physical_id)["Roles"]:
            iam.remove_role_from_instance_profile(
                InstanceProfileName=physical_id, RoleName=role["RoleName"]
            )
        iam.delete_instance_profile(InstanceProfileName=physical_id)


@resource("AWS::IAM::ServiceLinkedRole")
class ServiceLinkedRole(Handler):
    """A role that a service owns; its Ref is the role's name."""

    service = "iam"
    target = "RoleName"
    creation = "CreateServiceLinkedRole", "Role.RoleName"
    deletion = "DeleteServiceLinkedRole"
    changing = "UpdateRole"
    defaults: ClassVar[Mapping[str, Any]] = {"Description": ""}

"""IAM roles and instance profiles."""

import json
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, forgiving, present
from embedded_aws.cloudformation.handlers.names import given_or_generated
from embedded_aws.cloudformation.handlers.tags import Tagging, all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::IAM::Role")
class Role(Handler):
    """A role with its inline and attached policies; its Ref is the role's name."""

    service = "iam"
    gone = ("NoSuchEntity",)
    tagging = Tagging(target="RoleName", tag="TagRole", untag="UntagRole")

    _later = ("ManagedPolicyArns", "Policies", "RoleName", "Tags")

    def _create(self, request: Request) -> str:
        name, wanted = given_or_generated(request, "RoleName", limit=64), request.properties
        more = {"RoleName": name, "Tags": tag_list(all_tags(request))}
        self._call(request, "CreateRole", wanted, leave=self._later, **more)
        return name

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        iam = request.client("iam")
        now = request.properties
        attached, wanted = before.get("ManagedPolicyArns", []), now.get("ManagedPolicyArns", [])
        for arn in [arn for arn in attached if arn not in wanted]:
            with forgiving(*self.gone):
                iam.detach_role_policy(RoleName=physical_id, PolicyArn=arn)
        for arn in [arn for arn in wanted if arn not in attached]:
            iam.attach_role_policy(RoleName=physical_id, PolicyArn=arn)
        inline = {policy["PolicyName"] for policy in now.get("Policies", [])}
        for policy in before.get("Policies", []):
            if policy["PolicyName"] not in inline:
                with forgiving(*self.gone):
                    iam.delete_role_policy(RoleName=physical_id, PolicyName=policy["PolicyName"])
        for policy in now.get("Policies", []):
            self._call(request, "PutRolePolicy", policy, RoleName=physical_id)

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        iam = request.client("iam")
        now = request.properties
        if changed(request, before, "AssumeRolePolicyDocument"):
            document = json.dumps(now["AssumeRolePolicyDocument"])
            iam.update_assume_role_policy(RoleName=physical_id, PolicyDocument=document)
        if changed(request, before, "Description", "MaxSessionDuration"):
            iam.update_role(
                RoleName=physical_id,
                Description=now.get("Description", ""),
                MaxSessionDuration=now.get("MaxSessionDuration", 3600),
            )
        if changed(request, before, "PermissionsBoundary"):
            if "PermissionsBoundary" in now:
                boundary = now["PermissionsBoundary"]
                iam.put_role_permissions_boundary(
                    RoleName=physical_id, PermissionsBoundary=boundary
                )
            else:
                iam.delete_role_permissions_boundary(RoleName=physical_id)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        role = request.client("iam").get_role(RoleName=physical_id)["Role"]
        return {"Arn": role["Arn"], "RoleId": role["RoleId"]}

    def _delete(self, request: Request, physical_id: str) -> None:
        # Only this resource's policies are removed; with others, IAM refuses the deletion.
        iam = request.client("iam")
        own = [policy["PolicyName"] for policy in request.properties.get("Policies", [])]
        for name in iam.list_role_policies(RoleName=physical_id)["PolicyNames"]:
            if name in own:
                iam.delete_role_policy(RoleName=physical_id, PolicyName=name)
        own = request.properties.get("ManagedPolicyArns", [])
        for policy in iam.list_attached_role_policies(RoleName=physical_id)["AttachedPolicies"]:
            if policy["PolicyArn"] in own:
                iam.detach_role_policy(RoleName=physical_id, PolicyArn=policy["PolicyArn"])
        iam.delete_role(RoleName=physical_id)


@resource("AWS::IAM::InstanceProfile")
class InstanceProfile(Handler):
    """An instance profile; its Ref is the profile's name."""

    gone = ("NoSuchEntity",)

    def _create(self, request: Request) -> str:
        iam = request.client("iam")
        name = given_or_generated(request, "InstanceProfileName", limit=128)
        path = present(request.properties, "Path")
        iam.create_instance_profile(InstanceProfileName=name, **path)
        return name

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        iam = request.client("iam")
        old, new = before.get("Roles", []), request.properties["Roles"]
        for role in [role for role in old if role not in new]:
            with forgiving(*self.gone):
                iam.remove_role_from_instance_profile(
                    InstanceProfileName=physical_id, RoleName=role
                )
        for role in [role for role in new if role not in old]:
            iam.add_role_to_instance_profile(InstanceProfileName=physical_id, RoleName=role)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("iam").get_instance_profile(InstanceProfileName=physical_id)
        return {"Arn": reply["InstanceProfile"]["Arn"]}

    def _delete(self, request: Request, physical_id: str) -> None:
        iam = request.client("iam")
        profile = iam.get_instance_profile(InstanceProfileName=physical_id)["InstanceProfile"]
        for role in profile["Roles"]:
            iam.remove_role_from_instance_profile(
                InstanceProfileName=physical_id, RoleName=role["RoleName"]
            )
        iam.delete_instance_profile(InstanceProfileName=physical_id)


@resource("AWS::IAM::ServiceLinkedRole")
class ServiceLinkedRole(Handler):
    """A role that a service owns; its Ref is the role's name."""

    service = "iam"
    gone = ("NoSuchEntity",)

    def _create(self, request: Request) -> str:
        reply = self._call(request, "CreateServiceLinkedRole", request.properties)
        return str(reply["Role"]["RoleName"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, "Description"):
            request.client("iam").update_role(
                RoleName=physical_id, Description=request.properties.get("Description", "")
            )

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"RoleName": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("iam").delete_service_linked_role(RoleName=physical_id)

"""IAM roles and instance profiles."""

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import resource
from embedded_aws.iam.resource_types.handler import HolderHandler


@resource("AWS::IAM::Role")
class Role(HolderHandler):
    """A role with its inline and attached policies; its Ref is the role's name."""

    target, name, name_limit = "RoleName", "RoleName", 64
    creation = "CreateRole", "RoleName"
    reading = "GetRole", "Role"
    deletion = "DeleteRole"
    later = ("ManagedPolicyArns", "Policies")
    changing = "UpdateRole"
    defaults = {"Description": "", "MaxSessionDuration": 3600}
    settings = {
        "AssumeRolePolicyDocument": Setting(
            put="UpdateAssumeRolePolicy", argument="PolicyDocument"
        ),
        "PermissionsBoundary": Setting(
            put="PutRolePermissionsBoundary", remove="DeleteRolePermissionsBoundary"
        ),
        "ManagedPolicyArns": Setting(
            put="AttachRolePolicy", argument="PolicyArn", remove="DetachRolePolicy", each=True
        ),
        "Policies": Setting(put="PutRolePolicy", remove="DeleteRolePolicy", each=True),
    }
    tagging = Tagging(target="RoleName", tag="TagRole", untag="UntagRole")


@resource("AWS::IAM::InstanceProfile")
class InstanceProfile(HolderHandler):
    """An instance profile; its Ref is the profile's name."""

    target, name, name_limit = "InstanceProfileName", "InstanceProfileName", 128
    creation = "CreateInstanceProfile", "InstanceProfileName"
    reading = "GetInstanceProfile", "InstanceProfile"
    deletion = "DeleteInstanceProfile"
    settings = {
        "Roles": Setting(
            put="AddRoleToInstanceProfile",
            argument="RoleName",
            remove="RemoveRoleFromInstanceProfile",
            each=True,
        )
    }
    later = ("Roles",)


@resource("AWS::IAM::ServiceLinkedRole")
class ServiceLinkedRole(Handler):
    """A role that a service owns; its Ref is the role's name."""

    service = "iam"
    target = "RoleName"
    creation = "CreateServiceLinkedRole", "Role.RoleName"
    deletion = "DeleteServiceLinkedRole"
    changing = "UpdateRole"
    defaults = {"Description": ""}

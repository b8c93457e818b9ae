"""IAM policies: inline ones of roles, users and groups, and managed ones."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, forgiving, present
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.handlers.setting import Setting
from embedded_aws.cloudformation.resource import HandlerError, Properties, Request, resource
from embedded_aws.iam.resource_types.handler import HolderHandler

_KINDS = ("Group", "Role", "User")
# A holder of a policy: its kind, and the argument that names it.
Holder = tuple[str, dict[str, Any]]


def _holders(properties: Properties) -> list[Holder]:
    return [
        (kind, {f"{kind}Name": name}) for kind in _KINDS for name in properties.get(f"{kind}s", [])
    ]


@resource("AWS::IAM::Policy")
class Policy(Handler):
    """An inline policy on several roles, users and groups; its Ref is a generated name."""

    service = "iam"

    def _create(self, request: Request) -> str:
        return generated_name(request, limit=128)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        policy = present(request.properties, "PolicyName", "PolicyDocument")
        holders = _holders(request.properties)
        kept = [] if changed(request, before, "PolicyName") else holders
        self._take_off(request, before, [who for who in _holders(before) if who not in kept])
        for kind, holder in holders:
            self._call(request, f"Put{kind}Policy", policy, **holder)

    def _take_off(self, request: Request, properties: Properties, whom: list[Holder]) -> None:
        for kind, holder in whom:
            # The policy of a deleted holder is gone.
            with forgiving():
                name = present(properties, "PolicyName")
                self._call(request, f"Delete{kind}Policy", name, **holder)

    def _delete(self, request: Request, physical_id: str) -> None:
        self._take_off(request, request.properties, _holders(request.properties))


@resource("AWS::IAM::RolePolicy")
class RolePolicy(Handler):
    """An inline policy on one role; its Ref is `policy|role`."""

    service = "iam"
    parts = "PolicyName", "|", "RoleName"
    deletion = "DeleteRolePolicy"

    def _create(self, request: Request) -> str:
        iam, named = request.client("iam"), present(request.properties, "PolicyName", "RoleName")
        # Otherwise the policy of another stack would be overwritten.
        if named["PolicyName"] in iam.list_role_policies(RoleName=named["RoleName"])["PolicyNames"]:
            raise HandlerError(
                f"Policy {named['PolicyName']} already exists on role {named['RoleName']}.",
                "AlreadyExists",
            )
        return f"{named['PolicyName']}|{named['RoleName']}"

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        self._call(request, "PutRolePolicy", request.properties)


@resource("AWS::IAM::ManagedPolicy")
class ManagedPolicy(HolderHandler):
    """A managed policy and its attachments; its Ref is the policy's ARN."""

    target, name, name_limit = "PolicyArn", "ManagedPolicyName", 128
    creation = "CreatePolicy", "Policy.Arn"
    reading = "GetPolicy", "Policy"
    deletion = "DeletePolicy"
    settings = {
        f"{kind}s": Setting(
            put=f"Attach{kind}Policy",
            argument=f"{kind}Name",
            remove=f"Detach{kind}Policy",
            each=True,
        )
        for kind in _KINDS
    }
    later = tuple(settings)

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = super()._wanted(request)
        return {"PolicyName": wanted.pop("ManagedPolicyName"), **wanted}

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, "PolicyDocument"):
            # IAM keeps five versions; CloudFormation keeps the default only.
            document = present(request.properties, "PolicyDocument")
            version: dict[str, Any] = {"PolicyArn": physical_id, "SetAsDefault": True}
            self._call(request, "CreatePolicyVersion", document, **version)
            self._delete_old_versions(request.client("iam"), physical_id)

    def _delete_old_versions(self, iam: Any, arn: str) -> None:
        for version in iam.list_policy_versions(PolicyArn=arn)["Versions"]:
            if not version["IsDefaultVersion"]:
                iam.delete_policy_version(PolicyArn=arn, VersionId=version["VersionId"])

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"PermissionsBoundaryUsageCount": 0, **super()._attributes(request, physical_id)}

    def _delete(self, request: Request, physical_id: str) -> None:
        self._delete_old_versions(request.client("iam"), physical_id)
        super()._delete(request, physical_id)

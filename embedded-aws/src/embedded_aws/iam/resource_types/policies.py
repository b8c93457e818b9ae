"""IAM policies: inline ones of roles, users and groups, and managed ones."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, forgiving, present
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.resource import (
    HandlerError,
    Properties,
    Request,
    resource,
)

# Properties that list the holders of a policy, and IAM's names of each kind.
_BEARERS = {"Groups": "group", "Roles": "role", "Users": "user"}


def _bearers(properties: Properties) -> Iterator[tuple[str, str]]:
    for name, kind in _BEARERS.items():
        for bearer in properties.get(name, []):
            yield kind, bearer


def _argument(kind: str, bearer: str) -> dict[str, str]:
    return {f"{kind.capitalize()}Name": bearer}


@resource("AWS::IAM::Policy")
class Policy(Handler):
    """An inline policy on several roles, users and groups; its Ref is a generated name."""

    def _create(self, request: Request) -> str:
        return generated_name(request, limit=128)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        iam = request.client("iam")
        now = request.properties
        renamed = changed(request, before, "PolicyName")
        kept = () if renamed else tuple(_bearers(now))
        self._take_off(iam, before, [who for who in _bearers(before) if who not in kept])
        document = json.dumps(now["PolicyDocument"])
        for kind, bearer in _bearers(now):
            put = getattr(iam, f"put_{kind}_policy")
            put(**_argument(kind, bearer), PolicyName=now["PolicyName"], PolicyDocument=document)

    def _take_off(self, iam: Any, properties: Properties, whom: Iterable[tuple[str, str]]) -> None:
        for kind, bearer in whom:
            delete = getattr(iam, f"delete_{kind}_policy")
            # The policy of a deleted holder is gone.
            with forgiving():
                delete(**_argument(kind, bearer), PolicyName=properties["PolicyName"])

    def _delete(self, request: Request, physical_id: str) -> None:
        self._take_off(request.client("iam"), request.properties, _bearers(request.properties))


@resource("AWS::IAM::RolePolicy")
class RolePolicy(Handler):
    """An inline policy on one role; its Ref is `policy|role`."""

    service = "iam"

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

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("iam").delete_role_policy(
            **present(request.properties, "PolicyName", "RoleName")
        )


@resource("AWS::IAM::ManagedPolicy")
class ManagedPolicy(Handler):
    """A managed policy and its attachments; its Ref is the policy's ARN."""

    service = "iam"
    target, name, name_limit = "PolicyArn", "ManagedPolicyName", 128
    creation = "CreatePolicy", "Policy.Arn"
    reading = "GetPolicy", "Policy"
    later = ("Groups", "Roles", "Users")

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = super()._wanted(request)
        return {"PolicyName": wanted.pop("ManagedPolicyName"), **wanted}

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        iam = request.client("iam")
        old, new = list(_bearers(before)), list(_bearers(request.properties))
        for kind, bearer in [who for who in old if who not in new]:
            detach = getattr(iam, f"detach_{kind}_policy")
            with forgiving():
                detach(**_argument(kind, bearer), PolicyArn=physical_id)
        for kind, bearer in [who for who in new if who not in old]:
            attach = getattr(iam, f"attach_{kind}_policy")
            attach(**_argument(kind, bearer), PolicyArn=physical_id)

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, "PolicyDocument"):
            # IAM keeps five versions; CloudFormation keeps the default only.
            iam = request.client("iam")
            document = json.dumps(request.properties["PolicyDocument"])
            iam.create_policy_version(
                PolicyArn=physical_id, PolicyDocument=document, SetAsDefault=True
            )
            self._delete_old_versions(iam, physical_id)

    def _delete_old_versions(self, iam: Any, arn: str) -> None:
        for version in iam.list_policy_versions(PolicyArn=arn)["Versions"]:
            if not version["IsDefaultVersion"]:
                iam.delete_policy_version(PolicyArn=arn, VersionId=version["VersionId"])

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"PermissionsBoundaryUsageCount": 0, **super()._attributes(request, physical_id)}

    def _delete(self, request: Request, physical_id: str) -> None:
        iam = request.client("iam")
        own = set(_bearers(request.properties))
        reply = iam.list_entities_for_policy(PolicyArn=physical_id)
        for kind in _BEARERS.values():
            title = kind.capitalize()
            for entity in reply[f"Policy{title}s"]:
                if (kind, bearer := entity[f"{title}Name"]) in own:
                    detach = getattr(iam, f"detach_{kind}_policy")
                    detach(**_argument(kind, bearer), PolicyArn=physical_id)
        self._delete_old_versions(iam, physical_id)
        iam.delete_policy(PolicyArn=physical_id)

"""Access entries: which principal is who in a cluster, and which access policies it has.

EKS user guide, "Grant IAM users access to Kubernetes with EKS access entries": no entries in the
mode CONFIG_MAP; groups and user names only of the type STANDARD; policies only of STANDARD; no
service-linked roles. "Review access policy permissions": the policies. Inferred: an IAM principal
must exist, in this account; other accounts' are taken.
"""

from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row
from embedded_aws.eks import roles
from embedded_aws.eks.access_policies import POLICIES
from embedded_aws.eks.calls import answers, in_use, invalid, invalid_request, not_found, page
from embedded_aws.eks.tables import access_entries, cluster_of, of_cluster

_ARN = "arn:aws:eks::aws:cluster-access-policy/"
_NODE_TYPES = ("EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "HYBRID_LINUX", "HYPERPOD_LINUX")
_TYPES = ("STANDARD", "EC2", *_NODE_TYPES)
_NODE_USER = "system:node:{{EC2PrivateDNSName}}"


def add_entry(
    call: Call,
    cluster: Row,
    principal: str,
    *,
    kind: str = "STANDARD",
    groups: list[str] | None = None,
    username: str | None = None,
    policies: list[Row] | None = None,
) -> Row:
    """Add an access entry and return it as it is kept.

    Args:
        call: in whose account and region.
        cluster: the cluster.
        principal: ARN of the role or the user.
        kind: its type.
        groups: of Kubernetes.
        username: of Kubernetes; by default as EKS calls the type.
        policies: associated access policies, without their times.
    """
    path = f"{principal.split(':')[5].partition('/')[0]}/{principal.split(':')[4]}"
    name = principal.rpartition("/")[2]
    arn = call.arn("eks", f"access-entry/{cluster['name']}/{path}/{name}/{mock_random.uuid4()}")
    now = datetime.now(UTC)
    access_entries(call)[arn] = entry = {
        "clusterName": cluster["name"],
        "principalArn": principal,
        "kubernetesGroups": groups or (["system:nodes"] if kind == "EC2_LINUX" else []),
        "accessEntryArn": arn,
        "createdAt": now,
        "modifiedAt": now,
        "tags": {},
        "username": username or _username(kind, principal),
        "type": kind,
        "policies": [{**each, "associatedAt": now, "modifiedAt": now} for each in policies or ()],
    }
    return entry


def entry_for(call: Call, cluster: str, principal: str) -> Row | None:
    """Return a principal's entry of a cluster, or None."""
    rows = of_cluster(access_entries(call), cluster)
    return next((row for row in rows if row["principalArn"] == principal), None)


@answers("CreateAccessEntry")
def create_access_entry(call: Call) -> dict[str, Any]:
    """Create an access entry."""
    given, principal = call.params, call.params["principalArn"]
    cluster = _with_entries(call)
    _check_principal(call, principal)
    kind = given.get("type", "STANDARD")
    if kind not in _TYPES:
        raise invalid(f"The type {kind} is not one of {', '.join(_TYPES)}")
    groups = given.get("kubernetesGroups", [])
    if kind in _NODE_TYPES and (groups or given.get("username")):
        raise invalid(f"kubernetesGroups and username cannot be set for the type {kind}")
    _check_groups(groups)
    if entry_for(call, cluster["name"], principal):
        raise in_use("The specified access entry resource is already in use on this cluster.")
    entry = add_entry(
        call, cluster, principal, kind=kind, groups=groups, username=given.get("username")
    )
    entry["tags"] = dict(given.get("tags", {}))
    return {"accessEntry": _described(entry)}


@answers("DescribeAccessEntry")
def describe_access_entry(call: Call) -> dict[str, Any]:
    """Describe an access entry."""
    return {"accessEntry": _described(_found(call))}


@answers("ListAccessEntries")
def list_access_entries(call: Call) -> dict[str, Any]:
    """List principals, also those with one access policy only."""
    cluster, policy = _with_entries(call), call.params.get("associatedPolicyArn")
    found = [
        row["principalArn"]
        for row in of_cluster(access_entries(call), cluster["name"])
        if not policy or policy in [each["policyArn"] for each in row["policies"]]
    ]
    return page(call, "accessEntries", found)


@answers("UpdateAccessEntry")
def update_access_entry(call: Call) -> dict[str, Any]:
    """Change an entry's groups and user name."""
    entry = _found(call)
    if entry["type"] in _NODE_TYPES:
        raise invalid(f"An access entry of the type {entry['type']} cannot be updated")
    _check_groups(call.params.get("kubernetesGroups", []))
    for name in ("kubernetesGroups", "username"):
        if name in call.params:
            entry[name] = call.params[name]
    entry["modifiedAt"] = datetime.now(UTC)
    return {"accessEntry": _described(entry)}


@answers("DeleteAccessEntry")
def delete_access_entry(call: Call) -> dict[str, Any]:
    """Delete an access entry."""
    del access_entries(call)[_found(call)["accessEntryArn"]]
    return {}


@answers("ListAccessPolicies")
def list_access_policies(call: Call) -> dict[str, Any]:
    """List the access policies for people, which users may associate."""
    found = [{"name": name, "arn": f"{_ARN}{name}"} for name in sorted(POLICIES)]
    return page(call, "accessPolicies", found)


@answers("AssociateAccessPolicy")
def associate_access_policy(call: Call) -> dict[str, Any]:
    """Associate an access policy, or change where it holds."""
    entry, arn, scope = _found(call), call.params["policyArn"], call.params["accessScope"]
    if arn not in [f"{_ARN}{name}" for name in POLICIES]:
        raise invalid("The policyArn parameter format is not valid")
    if entry["type"] != "STANDARD":
        raise invalid(
            f"Access policies cannot be associated with access entries of the type {entry['type']}"
        )
    if bool(scope.get("namespaces")) != (scope.get("type") == "namespace"):
        raise invalid("namespaces are needed for an access scope of the type namespace, only there")
    now = datetime.now(UTC)
    before = [each for each in entry["policies"] if each["policyArn"] == arn]
    associated = {
        "policyArn": arn,
        "accessScope": {"namespaces": [], **scope},
        "associatedAt": before[0]["associatedAt"] if before else now,
        "modifiedAt": now,
    }
    entry["policies"] = [each for each in entry["policies"] if each not in before] + [associated]
    return {**_named(entry), "associatedAccessPolicy": associated}


@answers("DisassociateAccessPolicy")
def disassociate_access_policy(call: Call) -> dict[str, Any]:
    """Take an access policy away."""
    entry, arn = _found(call), call.params["policyArn"]
    left = [each for each in entry["policies"] if each["policyArn"] != arn]
    if left == entry["policies"]:
        raise not_found("The specified policyArn is not associated with the access entry.")
    entry["policies"] = left
    return {}


@answers("ListAssociatedAccessPolicies")
def list_associated_access_policies(call: Call) -> dict[str, Any]:
    """List an entry's access policies."""
    entry = _found(call)
    return {**_named(entry), **page(call, "associatedAccessPolicies", entry["policies"])}


def _with_entries(call: Call) -> Row:
    """Return the cluster of a call, which has access entries."""
    cluster = cluster_of(call, call.params["clusterName"])
    if cluster["accessConfig"]["authenticationMode"] == "CONFIG_MAP":
        raise invalid_request(
            "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to "
            "perform this operation."
        )
    return cluster


def _found(call: Call) -> Row:
    cluster = _with_entries(call)
    if found := entry_for(call, cluster["name"], call.params["principalArn"]):
        return found
    raise not_found(
        "The specified principalArn could not be found. You can view your available access entries "
        "with 'list-access-entries'."
    )


def _check_principal(call: Call, arn: str) -> None:
    parts = arn.split(":")
    if len(parts) != 6 or parts[2] != "iam" or "/" not in parts[5]:
        raise invalid("The principalArn parameter format is not valid")
    if "/aws-service-role/" in arn:
        raise invalid(
            "The caller is not allowed to modify access entries with service-linked roles"
        )
    users = [user.arn for user in call.backend("iam").users.values()]
    if parts[4] == call.account and roles.role_of(call, arn) is None and arn not in users:
        raise invalid("The specified principalArn is invalid: invalid principal.")


def _check_groups(groups: list[str]) -> None:
    for group in groups:
        if group.startswith(("system:", "eks:", "aws:", "amazon:", "iam:")):
            raise invalid(f"The kubernetes group name {group} is invalid: its prefix is reserved")


def _username(kind: str, principal: str) -> str:
    if kind == "EC2_LINUX":
        return _NODE_USER
    parts = principal.split(":")
    if kind == "STANDARD" and parts[5].startswith("role/"):
        name = principal.rpartition("/")[2]
        return f"arn:aws:sts::{parts[4]}:assumed-role/{name}/{{{{SessionName}}}}"
    return principal


def _named(entry: Row) -> Row:
    return {name: entry[name] for name in ("clusterName", "principalArn")}


def _described(entry: Row) -> Row:
    return {key: value for key, value in entry.items() if key != "policies"}

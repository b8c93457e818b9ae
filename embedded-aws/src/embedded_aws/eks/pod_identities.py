"""Pod identity associations: which role the pods of a service account have.

EKS user guide, "EKS Pod Identities": one association for a service account; the role trusts
pods.eks.amazonaws.com. API reference: the external id of an association with a target role. From
memory: the words. Inferred: an add-on's association is changed by the add-on alone.
"""

from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row
from embedded_aws.eks import roles
from embedded_aws.eks.calls import answers, in_use, invalid_request, not_found, page
from embedded_aws.eks.tables import cluster_of, of_cluster, pod_identities

_SUMMARY = (
    *("clusterName", "namespace", "serviceAccount", "associationArn", "associationId"),
    "ownerArn",
)


def add_association(
    call: Call, cluster: str, namespace: str, account: str, role: str, owner: str | None = None
) -> Row:
    """Add an association and return it.

    Args:
        call: in whose account and region.
        cluster: its name.
        namespace: of Kubernetes.
        account: the service account.
        role: ARN of the role.
        owner: ARN of the add-on that has it.

    Raises:
        Refusal: there is one already, or pods cannot have the role.
    """
    _check_role(call, role)
    for row in of_cluster(pod_identities(call), cluster):
        if (row["namespace"], row["serviceAccount"]) == (namespace, account):
            raise in_use(f"Association already exists: {row['associationId']}")
    identifier = f"a-{mock_random.get_random_string(length=17, lower_case=True)}"
    arn = call.arn("eks", f"podidentityassociation/{cluster}/{identifier}")
    now = datetime.now(UTC)
    pod_identities(call)[arn] = row = {
        "clusterName": cluster,
        "namespace": namespace,
        "serviceAccount": account,
        "roleArn": role,
        "associationArn": arn,
        "associationId": identifier,
        "tags": {},
        "createdAt": now,
        "modifiedAt": now,
        "disableSessionTags": False,
        **({"ownerArn": owner} if owner else {}),
    }
    return row


@answers("CreatePodIdentityAssociation")
def create_pod_identity_association(call: Call) -> dict[str, Any]:
    """Create an association."""
    given, cluster = call.params, cluster_of(call, call.params["clusterName"])["name"]
    row = add_association(
        call, cluster, given["namespace"], given["serviceAccount"], given["roleArn"]
    )
    row["tags"] = dict(given.get("tags", {}))
    _set(call, row)
    return {"association": row}


@answers("DescribePodIdentityAssociation")
def describe_pod_identity_association(call: Call) -> dict[str, Any]:
    """Describe an association."""
    return {"association": _found(call)}


@answers("ListPodIdentityAssociations")
def list_pod_identity_associations(call: Call) -> dict[str, Any]:
    """List associations, also of a namespace or a service account."""
    cluster = cluster_of(call, call.params["clusterName"])["name"]
    found = [
        {name: row[name] for name in _SUMMARY if name in row}
        for row in of_cluster(pod_identities(call), cluster)
        if all(
            call.params.get(name) in (None, row[name]) for name in ("namespace", "serviceAccount")
        )
    ]
    return page(call, "associations", found)


@answers("UpdatePodIdentityAssociation")
def update_pod_identity_association(call: Call) -> dict[str, Any]:
    """Change an association's roles."""
    row = _changeable(call)
    if role := call.params.get("roleArn"):
        _check_role(call, role)
        row["roleArn"] = role
    _set(call, row)
    row["modifiedAt"] = datetime.now(UTC)
    return {"association": row}


@answers("DeletePodIdentityAssociation")
def delete_pod_identity_association(call: Call) -> dict[str, Any]:
    """Delete an association."""
    row = _changeable(call)
    del pod_identities(call)[row["associationArn"]]
    return {"association": row}


def _check_role(call: Call, role: str) -> None:
    roles.check_trust(call, role, roles.PODS)
    roles.check_passable(call, role, roles.PODS)


def _set(call: Call, row: Row) -> None:
    """Set what an association may have beside its role."""
    for name in ("disableSessionTags", "targetRoleArn", "policy"):
        if name in call.params:
            row[name] = call.params[name]
    if row.get("targetRoleArn"):
        of_pods = f"{row['clusterName']}/{row['namespace']}/{row['serviceAccount']}"
        row["externalId"] = f"{call.region}/{call.account}/{of_pods}"


def _changeable(call: Call) -> Row:
    row = _found(call)
    if "ownerArn" in row:
        raise invalid_request(f"The association is managed by the add-on {row['ownerArn']}")
    return row


def _found(call: Call) -> Row:
    cluster = cluster_of(call, call.params["clusterName"])["name"]
    identifier = call.params["associationId"]
    for row in of_cluster(pod_identities(call), cluster):
        if row["associationId"] == identifier:
            return row
    raise not_found(f"The specified associationId {identifier} could not be found.")

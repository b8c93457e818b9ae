"""Who may use the cluster, as an eksctl file says it."""

from collections.abc import Iterator
from typing import Any

from trainshed.lint.cluster_files.draft import Draft, fits, mapping
from trainshed.spec import forms

_MASTERS = "system:masters"
# EKS user guide, "Review access policy permissions".
_POLICIES = {
    "AmazonEKSViewPolicy": "view",
    "AmazonEKSEditPolicy": "edit",
    "AmazonEKSAdminPolicy": "admin",
    "AmazonEKSClusterAdminPolicy": "cluster-admin",
}


def write_access(draft: Draft, file: dict[str, Any]) -> None:
    """Write `kubernetes.access`.

    Args:
        draft: to write into.
        file: the whole eksctl file.
    """
    grants: dict[str, dict[str, str]] = {}
    for grant in (*_entries(draft, file), *_mappings(draft, file)):
        grants.setdefault(grant["role"], grant)
    if grants:
        draft.set("kubernetes", "access", [*grants.values()])
    else:
        draft.note(
            "kubernetes.access: nobody may use this cluster; eksctl lets in who makes it. Name a "
            "role."
        )


def _entries(draft: Draft, file: dict[str, Any]) -> Iterator[dict[str, str]]:
    for entry in _list(mapping(file.get("accessConfig")).get("accessEntries")):
        if entry.get("type", "STANDARD") != "STANDARD":
            continue  # of nodes, whose entries EKS makes
        role, policies = entry.get("principalARN"), _list(entry.get("accessPolicies"))
        name = str(policies[0].get("policyARN")).rpartition("/")[2] if policies else ""
        scope = mapping(policies[0].get("accessScope")) if policies else {}
        namespaces = scope.get("namespaces") or [None]
        one = isinstance(namespaces, list) and len(namespaces) == len(policies) == 1
        if not fits(forms.ROLE.pattern, role) or name not in _POLICIES or not one:
            draft.note(
                f"kubernetes.access: {role} is left out; here an entry is a role with one policy, "
                "in one namespace or in all"
            )
            continue
        grant = {"role": str(role), "policy": _POLICIES[name]}
        if namespaces[0] is None:
            yield grant
        elif fits(forms.NAMESPACE.pattern, namespaces[0]):
            yield grant | {"namespace": namespaces[0]}
        else:
            draft.note(f"kubernetes.access: {role} is left out; {namespaces[0]} is no namespace")


def _mappings(draft: Draft, file: dict[str, Any]) -> Iterator[dict[str, str]]:
    for entry in _list(file.get("iamIdentityMappings")):
        role, groups = entry.get("arn"), entry.get("groups")
        administers = isinstance(groups, list) and _MASTERS in groups
        if administers and fits(forms.ROLE.pattern, role):
            yield {"role": str(role), "policy": "cluster-admin"}
        else:
            draft.note(
                f"kubernetes.access: {role} is left out; groups of Kubernetes other than {_MASTERS}"
                " have no policy of EKS"
            )


def _list(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []

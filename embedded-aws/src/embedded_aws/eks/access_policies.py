"""What the access policies of EKS allow, beside RBAC.

EKS user guide, "Review access policy permissions": the tables, which have no custom resources;
"Associate access policies with access entries": a policy holds in the cluster or in namespaces,
whose names may have wildcards. AmazonEKSAdminPolicy and AmazonEKSEditPolicy allow what
AmazonEKSViewPolicy does and more, as their tables show. Left out is the group `extensions`, which
no current Kubernetes serves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from embedded_aws.actions import Row

_ALL = "*"
_READ = ("get", "list", "watch")
_WRITE = ("create", "delete", "deletecollection", "patch", "update")
_SCALED = ("deployments", "deployments/scale", "replicasets", "replicasets/scale")
_OPENED = ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy")


@dataclass(frozen=True, slots=True)
class _Rule:
    """Verbs on resources of an API group, as RBAC has them."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]

    def allows(self, group: str, resource: str, verb: str) -> bool:
        return (
            self.group in (_ALL, group)
            and (_ALL in self.resources or resource in self.resources)
            and (_ALL in self.verbs or verb in self.verbs)
        )


_VIEW = (
    _Rule(
        "",
        (
            *("configmaps", "endpoints", "persistentvolumeclaims", "persistentvolumeclaims/status"),
            *("pods", "replicationcontrollers", "replicationcontrollers/scale", "serviceaccounts"),
            *("services", "services/status", "bindings", "events", "limitranges", "namespaces"),
            *("namespaces/status", "pods/log", "pods/status", "replicationcontrollers/status"),
            *("resourcequotas", "resourcequotas/status"),
        ),
        _READ,
    ),
    _Rule(
        "apps",
        (
            *("controllerrevisions", "daemonsets", "daemonsets/status", *_SCALED),
            *("deployments/status", "replicasets/status", "statefulsets", "statefulsets/scale"),
            "statefulsets/status",
        ),
        _READ,
    ),
    _Rule("autoscaling", ("horizontalpodautoscalers", "horizontalpodautoscalers/status"), _READ),
    _Rule("batch", ("cronjobs", "cronjobs/status", "jobs", "jobs/status"), _READ),
    _Rule("discovery.k8s.io", ("endpointslices",), _READ),
    _Rule("networking.k8s.io", ("ingresses", "ingresses/status", "networkpolicies"), _READ),
    _Rule("policy", ("poddisruptionbudgets", "poddisruptionbudgets/status"), _READ),
)
_EDIT = (
    *_VIEW,
    _Rule("", (*_OPENED, "secrets", "services/proxy"), _READ),
    _Rule(
        "",
        (
            *("configmaps", "events", "persistentvolumeclaims", "replicationcontrollers"),
            *("replicationcontrollers/scale", "secrets", "serviceaccounts", "services"),
            *("services/proxy", "pods", *_OPENED),
        ),
        _WRITE,
    ),
    _Rule("", ("serviceaccounts",), ("impersonate",)),
    _Rule(
        "apps",
        ("daemonsets", *_SCALED, "deployments/rollback", "statefulsets", "statefulsets/scale"),
        _WRITE,
    ),
    _Rule("autoscaling", ("horizontalpodautoscalers",), _WRITE),
    _Rule("batch", ("cronjobs", "jobs"), _WRITE),
    _Rule("networking.k8s.io", ("ingresses", "networkpolicies"), _WRITE),
    _Rule("policy", ("poddisruptionbudgets",), _WRITE),
)
_RULES: Mapping[str, tuple[_Rule, ...]] = {
    "AmazonEKSViewPolicy": _VIEW,
    "AmazonEKSEditPolicy": _EDIT,
    "AmazonEKSAdminPolicy": (
        *_EDIT,
        _Rule("authorization.k8s.io", ("localsubjectaccessreviews",), ("create",)),
        _Rule("rbac.authorization.k8s.io", ("rolebindings", "roles"), (*_READ, *_WRITE)),
    ),
    "AmazonEKSAdminViewPolicy": (_Rule(_ALL, (_ALL,), _READ),),
    "AmazonEKSClusterAdminPolicy": (_Rule(_ALL, (_ALL,), (_ALL,)),),
}
_OTHER_PATHS = "AmazonEKSClusterAdminPolicy"
POLICIES = tuple(_RULES)


def allowed(policies: Iterable[Row], asked: Mapping[str, Any]) -> bool:
    """Whether associated access policies allow a request.

    Args:
        policies: as the access entry has them.
        asked: the spec of a SubjectAccessReview.
    """
    return any(_allows(policy, asked) for policy in policies)


def _allows(policy: Row, asked: Mapping[str, Any]) -> bool:
    name, scope = policy["policyArn"].rpartition("/")[2], policy["accessScope"]
    resource = asked.get("resourceAttributes")
    if resource is None:
        return bool(name == _OTHER_PATHS and scope["type"] == "cluster")
    namespace = resource.get("namespace", "")
    if scope["type"] == "namespace" and not any(
        namespace and fnmatchcase(namespace, pattern) for pattern in scope["namespaces"]
    ):
        return False
    called = "/".join(filter(None, (resource["resource"], resource.get("subresource"))))
    group, verb = resource.get("group", ""), resource["verb"]
    return any(rule.allows(group, called, verb) for rule in _RULES[name])

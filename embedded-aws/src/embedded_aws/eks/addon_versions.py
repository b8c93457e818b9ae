"""The add-ons that the embedded AWS knows, with one version of each.

The real versions are known to the API alone, and change each month; a cluster may ask for any that
has their form. Sources of these: the projects' releases as of 2026-08 (vpc-cni,
aws-fsx-csi-driver, eks-node-monitoring-agent), the EKS user guide's pull request 1146 (kube-proxy
1.34), EKS Distro's release v1-34-eks-16 (coredns), CloudWatch's documentation
(amazon-cloudwatch-observability). From memory: the others. Inferred: the build numbers; kube-proxy
of the other versions.
"""

import re
from dataclasses import dataclass
from typing import Any

from embedded_aws.actions import Call, Row
from embedded_aws.eks.calls import answers, invalid, page
from embedded_aws.eks.cluster_versions import known_versions

_FORM = re.compile(r"v\d+\.\d+\.\d+-eksbuild\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonKind:
    """An add-on that clusters may have.

    Attributes:
        name: for instance `vpc-cni`.
        version: without `-eksbuild.`; `{}` stands for that of Kubernetes.
        type: what it is for.
        on_each_node: its pods are those of a DaemonSet alone, so that no node need be there.
        namespace: of its pods, unless a cluster says otherwise.
    """

    name: str
    version: str
    type: str
    on_each_node: bool = False
    namespace: str = "kube-system"

    def version_for(self, kubernetes: str) -> str:
        """Return the default version for a version of Kubernetes."""
        build = 5 if (self.name, kubernetes) == ("kube-proxy", "1.34") else 1
        return f"v{self.version.format(kubernetes)}-eksbuild.{build}"


_KINDS = (
    AddonKind(name="vpc-cni", version="1.23.1", type="networking", on_each_node=True),
    AddonKind(name="kube-proxy", version="{}.0", type="networking", on_each_node=True),
    AddonKind(name="coredns", version="1.13.2", type="networking"),
    AddonKind(name="eks-pod-identity-agent", version="1.3.10", type="security", on_each_node=True),
    AddonKind(
        name="eks-node-monitoring-agent", version="1.7.0", type="observability", on_each_node=True
    ),
    AddonKind(name="aws-ebs-csi-driver", version="1.53.0", type="storage"),
    AddonKind(name="aws-efs-csi-driver", version="2.1.13", type="storage"),
    AddonKind(name="aws-fsx-csi-driver", version="1.9.0", type="storage"),
    AddonKind(
        name="aws-mountpoint-s3-csi-driver", version="2.2.0", type="storage", on_each_node=True
    ),
    AddonKind(
        name="amazon-cloudwatch-observability",
        version="6.0.1",
        type="observability",
        namespace="amazon-cloudwatch",
    ),
    AddonKind(name="metrics-server", version="0.8.0", type="observability"),
)


def addon_kind(name: str) -> AddonKind:
    """Return an add-on.

    Raises:
        Refusal: the embedded AWS does not know it.
    """
    for kind in _KINDS:
        if kind.name == name:
            return kind
    raise invalid(f"Addon {name} specified is not supported")


def checked_version(kind: AddonKind, asked: str | None, kubernetes: str) -> str:
    """Return the version of an add-on.

    Args:
        kind: the add-on.
        asked: as given, or None for the default.
        kubernetes: the cluster's version.

    Raises:
        Refusal: no version looks so.
    """
    if asked and not _FORM.fullmatch(asked):
        raise invalid(f"Addon version specified is not supported: {asked} of {kind.name}")
    return asked or kind.version_for(kubernetes)


@answers("DescribeAddonVersions")
def describe_addon_versions(call: Call) -> dict[str, Any]:
    """Describe add-ons, each with the versions of Kubernetes that it goes with."""
    given = call.params
    asked, name = given.get("kubernetesVersion"), given.get("addonName")
    versions = [each.name for each in known_versions() if asked in (None, each.name)]
    if name:
        addon_kind(name)
    found = [
        _described(kind, versions)
        for kind in _KINDS
        if name in (None, kind.name)
        if not given.get("types") or kind.type in given["types"]
        if "eks" in (given.get("publishers") or ["eks"])
        if "aws" in (given.get("owners") or ["aws"])
    ]
    return page(call, "addons", found)


def _described(kind: AddonKind, versions: list[str]) -> Row:
    of_addon: dict[str, list[str]] = {}
    for each in versions:
        of_addon.setdefault(kind.version_for(each), []).append(each)
    return {
        "addonName": kind.name,
        "type": kind.type,
        "publisher": "eks",
        "owner": "aws",
        "defaultNamespace": kind.namespace,
        "addonVersions": [
            {
                "addonVersion": version,
                "architecture": ["amd64", "arm64"],
                "computeTypes": ["ec2"],
                "compatibilities": [
                    {"clusterVersion": each, "platformVersions": ["*"], "defaultVersion": True}
                    for each in fitting
                ],
                "requiresConfiguration": False,
                "requiresIamPermissions": kind.type == "storage",
            }
            for version, fitting in of_addon.items()
        ],
    }

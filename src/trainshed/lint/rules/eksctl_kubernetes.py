"""The version of Kubernetes in an eksctl cluster file."""

import re
from collections.abc import Iterator

from trainshed.catalogue.kubernetes import default_kubernetes, kubernetes_versions
from trainshed.day import today
from trainshed.findings import Violation, rule
from trainshed.lint.eksctl import EksctlCluster
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, LintedFile
from trainshed.lint.read import read

_VERSION = re.compile(r"v?(\d+)\.(\d+)(\.\d+)?")


def _clusters(document: LintedFile) -> tuple[EksctlCluster, ...]:
    return (document,) if isinstance(document, EksctlCluster) else ()


@rule(
    "TS-EKS-007",
    title="Support of the Kubernetes version has ended or ends soon",
    why="""
EKS supports a version for 14 months, and for 12 more at a higher price for each cluster and hour.
After that it upgrades the control plane by itself, and nodes stay behind. It is found from 90 days
before the end of standard support. The dates are those that were published in November 2026;
`aws eks describe-cluster-versions` has today's.
""",
    sources=("https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html",),
    over=in_files(_clusters),
    example={
        FileKind.EKSCTL: """
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-west-2, version: "1.31"}
"""
    },
)
def kubernetes_version(cluster: EksctlCluster) -> Iterator[Violation]:
    """A cluster should run a version in standard support."""
    version = read(cluster.version)
    found = _VERSION.fullmatch(version.value) if version else None
    if not version or not found:
        return
    number = int(found[1]), int(found[2])
    known = {each.number: each for each in kubernetes_versions()}
    oldest = known[min(known)]
    if number > oldest.number and (number not in known or not known[number].ends_soon(today())):
        return
    its = known.get(number)
    said = (
        f"has standard support until {its.standard_until}, and extended support until "
        f"{its.extended_until}"
        if its
        else f"is older than {oldest.name}, whose extended support ends on {oldest.extended_until}"
    )
    yield Violation(
        path=version.path,
        message=f"Kubernetes {version.value} {said}",
        remedy=f"use {default_kubernetes().name} or later",
    )

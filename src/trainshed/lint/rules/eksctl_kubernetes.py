"""The version of Kubernetes in an eksctl cluster file."""

import re
from collections.abc import Iterator, Mapping

from trainshed.findings import Violation, rule
from trainshed.lint.eksctl import EksctlCluster
from trainshed.lint.judging import in_files
from trainshed.lint.model import FileKind, LintedFile
from trainshed.lint.read import read

# EKS user guide, "Amazon EKS Kubernetes versions": until when each has standard and extended
# support. Seen 2026-11; those that are older have none.
_SUPPORTED_UNTIL: Mapping[tuple[int, int], tuple[str, str]] = {
    (1, 31): ("2025-11-26", "2026-11-26"),
    (1, 32): ("2026-03-23", "2027-03-23"),
    (1, 33): ("2026-07-29", "2027-07-29"),
    (1, 34): ("2026-12-02", "2027-12-02"),
}
_VERSION = re.compile(r"v?(\d+)\.(\d+)(\.\d+)?")


def _clusters(document: LintedFile) -> tuple[EksctlCluster, ...]:
    return (document,) if isinstance(document, EksctlCluster) else ()


@rule(
    "TS-EKS-007",
    title="Support of the Kubernetes version has ended or ends soon",
    why="""
EKS supports a version for 14 months, and for 12 more at a higher price for each cluster and hour.
After that it upgrades the control plane by itself, and nodes stay behind. The dates are those that
were published in November 2026; `aws eks describe-cluster-versions` has today's.
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
    oldest = min(_SUPPORTED_UNTIL)
    if number >= oldest and number not in _SUPPORTED_UNTIL:
        return
    standard, extended = _SUPPORTED_UNTIL.get(number, (None, None))
    said = (
        f"has standard support until {standard}, and extended support until {extended}"
        if standard
        else f"is older than {oldest[0]}.{oldest[1]}, whose extended support ends on "
        f"{_SUPPORTED_UNTIL[oldest][1]}"
    )
    newest = max(_SUPPORTED_UNTIL)
    yield Violation(
        path=version.path,
        message=f"Kubernetes {version.value} {said}",
        remedy=f"use {newest[0]}.{newest[1] + 1} or later",
    )

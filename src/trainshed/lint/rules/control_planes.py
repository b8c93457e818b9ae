"""Control planes of EKS: their version, its support, and who reaches the API server."""

import re
from collections.abc import Iterator

from trainshed.catalogue.kubernetes import default_kubernetes, kubernetes_versions
from trainshed.day import today
from trainshed.findings import Severity, Violation, rule
from trainshed.lint.examples import eksctl_example, resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import ControlPlane, FileKind
from trainshed.lint.parts import control_planes
from trainshed.lint.read import read

_VERSION = re.compile(r"v?(\d+)\.(\d+)(\.\d+)?")
_VERSIONS = "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"
_EVERYWHERE = "0.0.0.0/0"


def _template(more: str) -> dict[FileKind, str]:
    """Return an example: a cluster with one more property."""
    return resources_example(f"""
  Cluster:
    Type: AWS::EKS::Cluster
    Properties:
      RoleArn: arn:aws:iam::123456789012:role/cluster
      AccessConfig: {{AuthenticationMode: API, BootstrapClusterCreatorAdminPermissions: false}}
      {more}
""")


def _eksctl(version: str) -> dict[FileKind, str]:
    return {
        FileKind.EKSCTL: f"""
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {{name: example, region: us-west-2, version: "{version}"}}
"""
    }


@rule(
    "TS-EKS-007",
    title="Support of the Kubernetes version has ended or ends soon",
    why="""
EKS supports a version for 14 months, and for 12 more at a higher price for each cluster and hour.
After that it upgrades the control plane by itself, nodes stay behind, and no new cluster gets that
version: this is an error. It is found from 90 days before the end of standard support. The dates
are those that were published in November 2026; `aws eks describe-cluster-versions` has today's.
""",
    sources=(_VERSIONS,),
    over=in_files(control_planes),
    example=_eksctl("1.34") | _template('Version: "1.34"'),
)
def kubernetes_version(control_plane: ControlPlane) -> Iterator[Violation]:
    """A cluster should run a version in standard support."""
    version = read(control_plane.version)
    found = _VERSION.fullmatch(version.value) if version else None
    if not version or not found:
        return
    number = int(found[1]), int(found[2])
    known = {each.number: each for each in kubernetes_versions()}
    oldest = known[min(known)]
    its = known.get(number)
    ended = number < oldest.number or (its is not None and its.extended_until < today())
    if not ended and (its is None or not its.ends_soon(today())):
        return
    if ended:
        said = "is a version that EKS has no more" + (
            f": its extended support ended on {its.extended_until}" if its else ""
        )
    else:
        assert its
        said = (
            f"has standard support until {its.standard_until}, and extended support until "
            f"{its.extended_until}"
        )
    yield Violation(
        path=version.path,
        message=f"Kubernetes {version.value} {said}",
        remedy=f"use {default_kubernetes().name} or later",
        severity=Severity.ERROR if ended else None,
    )


@rule(
    "TS-EKS-010",
    title="The cluster goes on at the price of extended support",
    severity=Severity.INFO,
    why="""
Unless a cluster asks for `STANDARD`, it has extended support: at the end of the 14 months nothing
happens, but each hour of the control plane costs six times as much. With `STANDARD`, EKS upgrades
the control plane at that day.
""",
    sources=(
        _VERSIONS,
        "https://docs.aws.amazon.com/eks/latest/APIReference/API_UpgradePolicyRequest.html",
    ),
    over=in_files(control_planes),
    example=eksctl_example("upgradePolicy: {supportType: EXTENDED}")
    | _template("UpgradePolicy: {SupportType: EXTENDED}"),
)
def extended_support(control_plane: ControlPlane) -> Iterator[Violation]:
    """Whoever pays should have chosen it."""
    support = read(control_plane.support)
    if not support or support.value.upper() != "STANDARD":
        asked = "asks for" if support else "has, because it asks for nothing else,"
        yield Violation(
            path=support.path if support else control_plane.path,
            message=f"{control_plane.name} {asked} extended support",
            remedy="set the support type STANDARD in the upgrade policy, or plan the upgrades",
        )


@rule(
    "TS-EKS-021",
    over=in_files(control_planes),
    example=eksctl_example("vpc: {clusterEndpoints: {publicAccess: true, privateAccess: true}}")
    | _template(
        "ResourcesVpcConfig: {SubnetIds: [subnet-1, subnet-2], EndpointPrivateAccess: true}"
    ),
)
def open_to_the_internet(control_plane: ControlPlane) -> Iterator[Violation]:
    """The ranges are those of somebody."""
    public, cidrs = read(control_plane.public), read(control_plane.public_cidrs)
    if (public and not public.value) or (cidrs and _EVERYWHERE not in cidrs.value):
        return
    reason = "" if cidrs else ", because no range is named"
    yield Violation(
        path=(cidrs or public or control_plane).path,
        message=f"every address of the internet reaches the API server of {control_plane.name}"
        + reason,
        remedy="name the ranges of your offices or of your VPN, or end public access and reach it "
        "from the VPC",
    )

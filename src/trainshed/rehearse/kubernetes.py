"""What a rehearsal on Amazon EKS does as people do in an account: roles, charts, objects.

The lock of the project is not used: its digests are those of the real registries.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.environment import CHART_MIRROR
from embedded_aws.hosts.image_files import containers_unavailable
from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.kubernetes.apply_progress import Stage, apply_stages
from trainshed.kubernetes.chart_installer import ChartInstaller
from trainshed.kubernetes.charts import CHARTS, lock_chart
from trainshed.kubernetes.client import connect
from trainshed.kubernetes.cluster import find_cluster
from trainshed.kubernetes.helm import MIRROR_VARIABLE
from trainshed.kubernetes.manifest import Manifest

# Output of a cluster's stack: the name of its cluster of Amazon EKS.
_EKS_OUTPUT = "EksCluster"
_ROLE = re.compile(r":role/([\w+=,.@/-]+)")
_OPERATOR = "trainshed-rehearsal"
_ADMINISTRATOR = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
_EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}
_MINUTES = 5


def check_machine(*, loopback: bool) -> None:
    """Refuse a rehearsal on Amazon EKS on a machine that cannot have one.

    Raises:
        TrainshedError: with what it needs.
    """
    reason = "leave out --loopback" if loopback else containers_unavailable()
    if reason:
        raise TrainshedError(
            "a rehearsal on Amazon EKS needs JobSet's manager, which runs in a container with a "
            f"network of its own: {reason}"
        )


def make_roles(aws: EmbeddedAws, templates: Mapping[str, Mapping[str, Any]]) -> None:
    """Make the roles that access entries name: in an account they are there before.

    Args:
        aws: where the cluster will be.
        templates: of its stacks.
    """
    entries = (
        resource["Properties"]["PrincipalArn"]
        for template in templates.values()
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::EKS::AccessEntry"
    )
    for name in {found for entry in entries for found in _ROLE.findall(json.dumps(entry))}:
        path, _, base = f"/{name}".rpartition("/")
        _make_role(aws, base, f"{path}/")


def prepare(
    aws: EmbeddedAws, outputs: Mapping[str, str], manifest: Path, show: Callable[[str], None]
) -> Region:
    """Install charts and apply the cluster's objects; return its region, as its administrator.

    Args:
        aws: where the cluster is.
        outputs: of its stack.
        manifest: what synthesis wrote for Kubernetes.
        show: gets each step.

    Raises:
        TrainshedError: something is refused, or not ready in time.
    """
    region = _as_operator(aws, outputs[_EKS_OUTPUT])
    cluster = find_cluster(region, outputs[_EKS_OUTPUT])
    version = region.call("eks", "describe_cluster", name=cluster.name)["cluster"]["version"]
    with connect(cluster) as client, _mirrored(aws):
        stages: list[Stage] = [
            ChartInstaller(client, cluster, chart, lock_chart(chart), version) for chart in CHARTS
        ]
        stages.append(Manifest(client, cluster, manifest))
        for step in apply_stages(stages, minutes=_MINUTES, show=show):
            show(f"{step.name}: {step.outcome}")
    return region


def _make_role(aws: EmbeddedAws, name: str, path: str = "/") -> str:
    account = aws.settings.accounts[0]
    trusted = {
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:aws:iam::{account}:root"},
        "Action": "sts:AssumeRole",
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [trusted]})
    made = aws.client("iam").create_role(
        RoleName=name, Path=path, AssumeRolePolicyDocument=document
    )
    return str(made["Role"]["Arn"])


def _as_operator(aws: EmbeddedAws, cluster: str) -> Region:
    """Return the region as a role sees it that is an administrator of the cluster."""
    role = _make_role(aws, _OPERATOR)
    policy = json.dumps({"Version": "2012-10-17", "Statement": [_EVERYTHING]})
    aws.client("iam").put_role_policy(RoleName=_OPERATOR, PolicyName="all", PolicyDocument=policy)
    entry = {"clusterName": cluster, "principalArn": role}
    eks = aws.client("eks")
    eks.create_access_entry(**entry)
    eks.associate_access_policy(**entry, policyArn=_ADMINISTRATOR, accessScope={"type": "cluster"})
    return Region(aws.settings.regions[0], aws.client_of_role(role))


@contextmanager
def _mirrored(aws: EmbeddedAws) -> Iterator[None]:
    """Pull charts from the embedded AWS."""
    before = os.environ.get(MIRROR_VARIABLE)
    os.environ[MIRROR_VARIABLE] = aws.endpoint + CHART_MIRROR
    try:
        yield
    finally:
        if before is None:
            del os.environ[MIRROR_VARIABLE]
        else:
            os.environ[MIRROR_VARIABLE] = before

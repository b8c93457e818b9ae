"""Deploy the clusters to an AWS on this machine: no account, no network, no cost."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from embedded_aws.deployment import Deployment
from embedded_aws.embedded import EmbeddedAws
from trainshed.aws import Region
from trainshed.jobs.scheduler import find_scheduler
from trainshed.offline.stand_in import add_stand_in
from trainshed.plan import ClusterPlan, load_fleet

PROJECT = Path(__file__).parents[1]


@pytest.fixture
def clusters() -> tuple[ClusterPlan, ...]:
    """The clusters of this project."""
    return load_fleet(sorted(PROJECT.glob("clusters/*.yaml"))).clusters


@pytest.fixture
def assembly(clean_aws: EmbeddedAws, tmp_path: Path) -> Path:
    """What the CDK CLI makes of app.py."""
    subprocess.run(
        ["npx", "--no", "cdk", "synth", "--quiet", "--output", str(tmp_path)],
        cwd=PROJECT,
        env=clean_aws.environment,
        check=True,
    )
    return tmp_path


def publish_stand_in(aws: EmbeddedAws, cluster: ClusterPlan) -> None:
    """Put an AMI with nothing in it where the cluster looks for one; a new account has none."""
    if cluster.ami.parameter and cluster.ami.cell:
        aws.client("ssm").put_parameter(
            Name=cluster.ami.parameter,
            Value=add_stand_in(aws.client, *cluster.ami.cell.split("/")),
            Type="String",
            DataType="aws:ec2:image",
            Overwrite=True,
        )


def make_roles(aws: EmbeddedAws, cluster: ClusterPlan) -> None:
    """Make the roles of people that may use a control plane of EKS; a new account has none."""
    iam = aws.client("iam")
    everybody = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [everybody]})
    there = {role["RoleName"] for role in iam.list_roles()["Roles"]}
    for entry in cluster.control_plane.access if cluster.control_plane else ():
        path, _, name = entry.role.partition(":role")[2].rpartition("/")
        name = name or entry.role
        if name not in there:
            iam.create_role(RoleName=name, Path=f"{path}/", AssumeRolePolicyDocument=trust)
            there.add(name)


def test_every_cluster_deploys(
    clusters: tuple[ClusterPlan, ...],
    assembly: Path,
    clean_aws: EmbeddedAws,
    cdk_deployed: Callable[..., dict[str, Deployment]],
) -> None:
    """Jobs can be submitted to each cluster, with as many nodes as its file says."""
    for cluster in clusters:
        publish_stand_in(clean_aws, cluster)
        make_roles(clean_aws, cluster)

    cdk_deployed(assembly, *(cluster.name for cluster in clusters))

    for cluster in clusters:
        region = Region(cluster.region, clean_aws.client)
        assert find_scheduler(region, cluster.name).most_nodes() == cluster.nodes.max

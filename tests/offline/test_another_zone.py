"""What another `zone` does to a cluster and to each kind of its storage."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Answer
from protected_stacks import deploy_protected, there

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from trainshed.plan import load_fleet

CLUSTER = """
name: {name}Cluster
region: us-west-2
zone: {zone}
network: {{name: train}}
instance: {{type: trn1.32xlarge, nodes: {{max: 4}}}}
image: {{uri: "registry.example/train:1"}}
storage: {{{storage}}}
"""
OLD, NEW = "usw2-az1", "usw2-az4"
EFS, OPENZFS, BUCKET = "efs: {name: train}", "openzfs: {}", "bucket: {}"

# Deploys stacks of these clusters, each described by the fields of its file.
Deploy = Callable[..., None]
# Tears down a cluster, or one of its stacks, and returns what was said.
TearDown = Callable[..., str]


@pytest.fixture(autouse=True)
def channel(clean_aws: EmbeddedAws, publish_ami: Callable[..., str]) -> str:
    """An AMI for the nodes, which a new account lacks."""
    return publish_ami(clean_aws)


@pytest.fixture
def deploy(clean_aws: EmbeddedAws, synthesise: Callable[..., Path], tmp_path: Path) -> Deploy:
    folder = tmp_path / "clusters"
    folder.mkdir()

    def run(*stacks: str, **clusters: tuple[str, str]) -> None:
        for file in folder.iterdir():
            file.unlink()
        for name, (zone, storage) in clusters.items():
            text = CLUSTER.format(name=name.title(), zone=zone, storage=storage)
            (folder / f"{name}.yaml").write_text(text)
        fleet = load_fleet(sorted(folder.iterdir()))
        deploy_protected(clean_aws, synthesise(fleet), stacks)

    return run


@pytest.fixture
def tear_down(
    clean_aws: EmbeddedAws,
    trainshed: Callable[..., Answer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> TearDown:
    clean_aws.lead_here(monkeypatch)
    monkeypatch.chdir(tmp_path)

    def run(*options: str) -> str:
        done = trainshed("teardown", "TrainCluster", "--yes", *options)
        assert done.code == 0, done.err
        return " ".join(done.out.replace("│", " ").split())

    return run


def zones_of_targets(aws: EmbeddedAws, file_system: str) -> list[str]:
    found = aws.client("efs").describe_mount_targets(FileSystemId=file_system)["MountTargets"]
    return sorted(each["AvailabilityZoneId"] for each in found)


def subnets(aws: EmbeddedAws) -> list[dict[str, Any]]:
    return list(aws.client("ec2").describe_subnets()["Subnets"])


def zones_of_subnets(aws: EmbeddedAws) -> set[str]:
    return {each["AvailabilityZoneId"] for each in subnets(aws)}


def test_a_cluster_with_a_bucket_moves_once_its_nodes_are_gone(
    clean_aws: EmbeddedAws, deploy: Deploy, tear_down: TearDown
) -> None:
    stacks = ("TrainNetwork", "TrainBucket", "TrainCluster")
    deploy(*stacks, train=(OLD, BUCKET))
    [bucket] = clean_aws.client("s3").list_buckets()["Buckets"]

    with pytest.raises(DeploymentFailed, match=f"zone {OLD} cannot .*, in use by TrainCluster:"):
        deploy("TrainNetwork", train=(NEW, BUCKET))
    tear_down("--stack", "TrainCluster")
    deploy(*stacks, train=(NEW, BUCKET))

    assert zones_of_subnets(clean_aws) == {NEW}
    assert clean_aws.client("s3").list_buckets()["Buckets"] == [bucket]


def test_a_cluster_with_efs_moves_and_mounts_the_same_file_system(
    clean_aws: EmbeddedAws, deploy: Deploy, tear_down: TearDown
) -> None:
    stacks = ("TrainNetwork", "TrainEfs", "TrainCluster")
    deploy(*stacks, train=(OLD, EFS))
    [made] = clean_aws.client("efs").describe_file_systems()["FileSystems"]
    file_system = made["FileSystemId"]

    with pytest.raises(DeploymentFailed, match=f"zone {OLD} .*, in use by TrainCluster, TrainEfs:"):
        deploy("TrainNetwork", train=(NEW, EFS))
    assert zones_of_targets(clean_aws, file_system) == [OLD]
    tear_down("--stack", "TrainCluster")
    said = tear_down("--stack", "TrainEfs")
    assert f"storage.efs.existing: {file_system}" in said
    deploy(*stacks, train=(NEW, f"efs: {{existing: {file_system}}}"))

    assert zones_of_targets(clean_aws, file_system) == [NEW]
    assert zones_of_subnets(clean_aws) == {NEW}
    [still] = clean_aws.client("efs").describe_file_systems()["FileSystems"]
    assert still["FileSystemId"] == file_system


def test_a_second_cluster_takes_over_efs_in_another_zone(
    clean_aws: EmbeddedAws, deploy: Deploy, tear_down: TearDown
) -> None:
    deploy("TrainNetwork", "TrainEfs", "TrainCluster", train=(OLD, EFS))
    [made] = clean_aws.client("efs").describe_file_systems()["FileSystems"]
    file_system = made["FileSystemId"]

    deploy("TrainNetwork", "TrainEfs", "LabCluster", train=(OLD, EFS), lab=(NEW, EFS))
    assert zones_of_targets(clean_aws, file_system) == [OLD, NEW]
    tear_down()
    with pytest.raises(DeploymentFailed, match=f"zone {OLD} cannot go .*, in use by TrainEfs:"):
        deploy("TrainNetwork", lab=(NEW, EFS))
    deploy("TrainEfs", "TrainNetwork", "LabCluster", lab=(NEW, EFS))

    assert zones_of_targets(clean_aws, file_system) == [NEW]
    assert zones_of_subnets(clean_aws) == {NEW}


def test_an_openzfs_file_system_stays_in_its_zone_and_holds_the_network(
    clean_aws: EmbeddedAws, deploy: Deploy, tear_down: TearDown
) -> None:
    stacks = ("TrainNetwork", "TrainOpenZfs", "TrainCluster")
    deploy(*stacks, train=(OLD, OPENZFS))
    fsx = clean_aws.client("fsx")
    [made] = fsx.describe_file_systems()["FileSystems"]
    file_system, [subnet] = made["FileSystemId"], made["SubnetIds"]

    refusal = f"zone {OLD} .*, in use by TrainCluster, TrainOpenZfs:"
    for fields in ("", "{allow_replacement: true}"):
        with pytest.raises(DeploymentFailed, match=refusal):
            deploy("TrainNetwork", train=(NEW, f"openzfs: {fields or '{}'}"))
    tear_down("--stack", "TrainCluster")
    tear_down("--stack", "TrainOpenZfs")
    # The subnet cannot be deleted, and CloudFormation goes on without it.
    deploy("TrainNetwork", train=(NEW, OPENZFS))
    with pytest.raises(DeploymentFailed, match=f"{file_system} was kept when its stack"):
        deploy("TrainOpenZfs", train=(NEW, OPENZFS))
    tear_down("--stack", "TrainOpenZfs")
    deploy(*stacks, train=(NEW, f"openzfs: {{existing: {file_system}}}"))
    assert zones_of_subnets(clean_aws) == {OLD, NEW}

    said = tear_down()
    assert f"{file_system} is in it; delete that, then tear down again" in said
    assert there(clean_aws) == {"TrainNetwork"}
    assert [each["FileSystemId"] for each in fsx.describe_file_systems()["FileSystems"]] == [
        file_system
    ]

    fsx.delete_file_system(FileSystemId=file_system)
    said = tear_down()
    assert f"subnet {subnet}" in said
    assert there(clean_aws) == set()
    assert subnet not in [each["SubnetId"] for each in subnets(clean_aws)]

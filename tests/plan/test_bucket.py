"""What `storage.bucket` asks for is resolved, and shared by clusters."""

from pathlib import Path

import pytest

from trainshed.plan import ClusterPlan, load_fleet
from trainshed.spec import SpecError

OWN = "trainshed-train-111122223333-us-west-2"
HEAD = """name: TrainCluster
region: us-west-2
account: "111122223333"
instance: {type: trn1.32xlarge, nodes: {max: 4}}
"""


def plan(tmp_path: Path, fields: str) -> ClusterPlan:
    """Plan a cluster with further lines in its file."""
    file = tmp_path / "train.yaml"
    file.write_text(f"{HEAD}{fields}\n")
    (cluster,) = load_fleet([file]).clusters
    return cluster


def bucket(fields: str) -> str:
    return f"storage: {{bucket: {{{fields}}}}}"


def rule(fields: str, more: str = "") -> str:
    return bucket(f"lifecycle: [{{{fields}}}]{more}")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(rule("prefix: runs/, glacier_days: 90"), id="of-what-nothing-mounts"),
        pytest.param(
            rule("prefix: runs/, glacier_days: 90", ", mount: /data, mount_prefix: data/"),
            id="beside-the-mount",
        ),
        pytest.param(
            rule("glacier_instant_retrieval_days: 90", ", mount: /data"), id="readable-at-once"
        ),
        pytest.param(
            rule("infrequent_access_days: 30, glacier_days: 60, deep_archive_days: 150"),
            id="as-early-as-s3-takes-it",
        ),
        pytest.param(
            bucket("lifecycle: [{prefix: runs/, glacier_days: 90}]")
            + "\njob: {buckets: [{bucket: trainshed-other-111122223333-us-west-2, prefix: runs/}]}",
            id="of-another-bucket",
        ),
    ],
)
def test_an_archive_of_what_nothing_reads_is_fine(tmp_path: Path, fields: str) -> None:
    assert plan(tmp_path, fields).bucket


def test_an_existing_bucket_has_its_own_name(tmp_path: Path) -> None:
    new, existing = (plan(tmp_path, bucket(each)).bucket for each in ("", "existing: ours"))

    assert new
    assert existing
    assert new.bucket_name("111122223333", "us-west-2") == OWN
    assert existing.bucket_name("111122223333", "us-west-2") == "ours"


def test_clusters_in_two_networks_share_a_bucket(tmp_path: Path) -> None:
    files = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    for file, mount in zip(files, ("mount: /data", "access: read"), strict=True):
        file.write_text(
            HEAD.replace("TrainCluster", file.stem.title()) + bucket(f"name: ours, {mount}\n")
        )

    fleet = load_fleet(files)

    assert list(fleet.storages) == ["OursBucket"]
    assert len(fleet.networks) == 2


def test_clusters_that_share_a_bucket_agree_on_its_lifecycle(tmp_path: Path) -> None:
    files = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    for file, days in zip(files, (90, 91), strict=True):
        head = HEAD.replace("TrainCluster", file.stem.title())
        file.write_text(
            head + bucket(f"name: ours, lifecycle: [{{prefix: runs/, glacier_days: {days}}}]\n")
        )

    with pytest.raises(SpecError, match=r"shares the stack OursBucket with One .*lifecycle is"):
        load_fleet(files)

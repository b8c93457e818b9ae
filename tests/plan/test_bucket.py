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


OURS = "trainshed-ours-{}-us-west-2"
ARCHIVES = bucket("name: ours, lifecycle: [{prefix: runs/, glacier_days: 90}]")
READERS = {
    "job": ("job: {{buckets: [{{bucket: {}, prefix: runs/1/}}]}}", "jobs (job.buckets.0) read"),
    "lustre": ("storage: {{lustre: {{s3: {{bucket: {}}}}}}}", "Lustre (storage.lustre.s3) loads"),
    "mount": (
        "storage: {{bucket: {{existing: {}, mount: /data}}}}",
        "/data (storage.bucket.mount) has",
    ),
}


def two(tmp_path: Path, first: str, second: str, *, account: str | None) -> list[Path]:
    """Write two cluster files: one cluster makes a bucket, and the other names it."""
    head = HEAD if account else HEAD.replace('account: "111122223333"\n', "")
    files = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    for file, fields in zip(files, (first, second), strict=True):
        file.write_text(head.replace("TrainCluster", file.stem.title()) + fields + "\n")
    return files


@pytest.mark.parametrize("account", ["111122223333", None], ids=["known", "unknown"])
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("makes_first", [True, False])
def test_an_archive_of_what_another_cluster_reads_is_refused(
    tmp_path: Path, reader: str, account: str | None, makes_first: bool
) -> None:
    fields, words = READERS[reader]
    files = two(tmp_path, ARCHIVES, fields.format(OURS.format("111122223333")), account=account)

    with pytest.raises(SpecError) as refused:
        load_fleet(files if makes_first else files[::-1])

    (problem,) = refused.value.problems
    line = 5 if account else 4
    assert str(problem).startswith(
        f"{files[0]}:{line}: storage.bucket.lifecycle.0.glacier_days: objects under runs/ go to "
        f"Glacier after 90 days, and {words} them in Two ({files[1]}): what is archived cannot be"
    )


@pytest.mark.parametrize(
    ("bucket_name", "account"),
    [
        pytest.param(OURS.format("444455556666"), "111122223333", id="another-account"),
        pytest.param("trainshed-ours-111122223333-us-east-1", None, id="another-region"),
        pytest.param("trainshed-ours2-111122223333-us-west-2", None, id="another-name"),
    ],
)
@pytest.mark.parametrize("reader", READERS)
def test_an_archive_of_a_bucket_that_no_other_cluster_reads_is_fine(
    tmp_path: Path, reader: str, bucket_name: str, account: str | None
) -> None:
    fields = READERS[reader][0].format(bucket_name)

    assert load_fleet(two(tmp_path, ARCHIVES, fields, account=account)).storages


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param("storage: {{bucket: {{existing: {}}}}}", id="not-mounted"),
        pytest.param(
            "storage: {{bucket: {{existing: {}, mount: /d, mount_prefix: data/}}}}", id="beside-it"
        ),
        pytest.param("job: {{buckets: [{{bucket: {}, prefix: data/}}]}}", id="another-prefix"),
    ],
)
def test_what_another_cluster_reads_beside_the_archive_is_fine(tmp_path: Path, fields: str) -> None:
    second = fields.format(OURS.format("111122223333"))

    assert load_fleet(two(tmp_path, ARCHIVES, second, account="111122223333")).storages


def test_clusters_that_share_an_archive_are_refused_each_in_its_own_file(tmp_path: Path) -> None:
    mounts = ARCHIVES.replace("lifecycle", "mount: /data, lifecycle")
    files = two(tmp_path, ARCHIVES, mounts, account="111122223333")

    with pytest.raises(SpecError) as refused:
        load_fleet(files)

    (problem,) = refused.value.problems
    assert problem.where.file == str(files[1])

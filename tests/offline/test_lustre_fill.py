"""How full a Lustre file system is, by what it sends itself."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Answer

from embedded_aws.embedded import EmbeddedAws

CLUSTER = """
name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 2}}
storage: {lustre: {deployment: scratch-2}}
"""


@pytest.mark.parametrize(
    ("gib", "shown", "wrong"), [(1008, "1,008 of 1,200 GiB (84 %)", 0), (1056, "(88 %)", 1)]
)
def test_status_shows_how_full_a_file_system_is(
    clean_aws: EmbeddedAws,
    deploy_cluster: Callable[..., None],
    trainshed: Callable[..., Answer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gib: int,
    shown: str,
    wrong: int,
) -> None:
    deploy_cluster(CLUSTER, "TrainNetwork", "TrainStorage")
    clean_aws.lead_here(monkeypatch)
    monkeypatch.chdir(tmp_path)
    [lustre] = clean_aws.client("fsx").describe_file_systems()["FileSystems"]
    clean_aws.fill_storage(lustre["FileSystemId"], gib)

    done = trainshed("status", "TrainCluster")

    lines = done.out.splitlines()
    [storage] = [each for each in lines if each.startswith("storage")]
    assert storage.split("lustre")[1].startswith(f" {lustre['FileSystemId']} AVAILABLE")
    assert storage.endswith(shown)
    assert done.out.count("% full: delete files, or give it more") == wrong

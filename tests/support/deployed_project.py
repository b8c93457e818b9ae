"""A project whose cluster is deployed to an embedded AWS."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from embedded_aws.embedded import EmbeddedAws
from trainshed.app.synthesis import read_app, synthesise
from trainshed.aws import Region
from trainshed.offline.image import add_image_of
from trainshed.plan import load_fleet

ROOT = Path(__file__).parents[2]
CLUSTER = """
name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 4}, root_gib: 300}
image: {repository: train, tag: "1"}
storage: {lustre: {deployment: scratch-2}}
"""
TRN_QUOTA = "L-2C3B7624"


def project(folder: Path) -> Path:
    """Make a project; return its cluster file."""
    settings = {"app": f"python3 '{ROOT / 'app.py'}'", "versionReporting": False}
    (folder / "cdk.json").write_text(json.dumps(settings))
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    path = folder / "clusters/train.yaml"
    path.parent.mkdir()
    path.write_text(CLUSTER)
    return path


def deploy(aws: EmbeddedAws, file: Path, publish_ami: Callable[..., str]) -> None:
    """Deploy a cluster to an account that takes it."""
    aws.grant_quota(TRN_QUOTA, 1024)
    publish_ami(aws)
    folder = file.parents[1]
    # As the CDK CLI does it: the account is known.
    synthesise(replace(read_app(folder), account="123456789012"), folder / "cdk.out")
    aws.cdk_deploy(folder / "cdk.out", "TrainCluster")
    [plan] = load_fleet([file]).clusters
    add_image_of(Region("us-west-2", aws.client), plan)


def changed(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))

"""EFS in templates: what is kept, who gets in, what moves, and what clusters of two zones share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from trainshed.plan import Fleet, load_fleet
from trainshed.spec import EfsSpec
from trainshed_constructs import EfsFileSystem

CLUSTER = """
name: {name}
region: us-west-2
zone: {zone}
instance: {{type: trn1.32xlarge, nodes: {{max: 2}}}}
network: {{name: shared}}
storage: {{efs: {{name: home, mount: {mount}}}}}
"""
KEY = "arn:aws:kms:us-west-2:123456789012:key/11111111-1111-1111-1111-111111111111"


def made(**fields: Any) -> Template:
    stack = cdk.Stack(cdk.App(), "Storage")
    vpc = ec2.Vpc(stack, "Vpc")
    EfsFileSystem(
        stack,
        "Efs",
        vpc=vpc,
        subnets={"usw2-az1": vpc.private_subnets[0]},
        clients=ec2.SecurityGroup(stack, "Nodes", vpc=vpc),
        name="train",
        settings=EfsSpec(mount="/home", **fields),
        kms_key_arn=KEY,
    )
    return Template.from_stack(stack)


def test_it_is_kept_and_guarded_against_a_replacement() -> None:
    template = made()
    [file_system] = template.find_resources("AWS::EFS::FileSystem").values()
    [(guard, of_guard)] = template.find_resources("Custom::ReplacementGuard").items()

    kept = "RetainExceptOnCreate"
    assert (file_system["DeletionPolicy"], file_system["UpdateReplacePolicy"]) == (kept, "Retain")
    assert guard in file_system["DependsOn"]
    assert file_system["Properties"]["KmsKeyId"] == KEY
    guarded = of_guard["Properties"]
    assert guarded["FileSystem"] == {"KmsKeyId": KEY}
    assert (guarded["Service"], guarded["Tag"]) == ("efs", "trainshed:efs")


def test_clients_come_through_tls_and_a_mount_target() -> None:
    [file_system] = made().find_resources("AWS::EFS::FileSystem").values()

    allowed, denied = file_system["Properties"]["FileSystemPolicy"]["Statement"]

    through = {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}}
    assert (allowed["Effect"], allowed["Condition"]) == ("Allow", through)
    without_tls = {"Bool": {"aws:SecureTransport": "false"}}
    assert (denied["Effect"], denied["Condition"]) == ("Deny", without_tls)


@pytest.mark.parametrize(
    ("days", "policies"),
    [
        (
            {"infrequent_access_days": 1, "archive_days": 90},
            [
                {"TransitionToIA": "AFTER_1_DAY"},
                {"TransitionToArchive": "AFTER_90_DAYS"},
                {"TransitionToPrimaryStorageClass": "AFTER_1_ACCESS"},
            ],
        ),
        (
            {"infrequent_access_days": 30, "archive_days": 0},
            [
                {"TransitionToIA": "AFTER_30_DAYS"},
                {"TransitionToPrimaryStorageClass": "AFTER_1_ACCESS"},
            ],
        ),
        ({"infrequent_access_days": 0, "archive_days": 0}, []),
    ],
)
def test_what_nobody_reads_moves_and_comes_back(
    days: dict[str, int], policies: list[dict[str, str]]
) -> None:
    [file_system] = made(**days).find_resources("AWS::EFS::FileSystem").values()

    assert file_system["Properties"].get("LifecyclePolicies", []) == policies


def test_nodes_reach_it_by_nfs_and_nothing_else_does() -> None:
    template = made()
    [into] = template.find_resources("AWS::EC2::SecurityGroupIngress").values()
    [out] = template.find_resources("AWS::EC2::SecurityGroupEgress").values()

    servers, nodes = into["Properties"]["GroupId"], into["Properties"]["SourceSecurityGroupId"]
    assert servers != nodes
    assert out["Properties"]["GroupId"] == nodes
    assert out["Properties"]["DestinationSecurityGroupId"] == servers
    for rule in (into, out):
        assert (rule["Properties"]["FromPort"], rule["Properties"]["ToPort"]) == (2049, 2049)


def test_clusters_of_two_zones_have_a_mount_target_each_and_mounts_of_their_own(
    synthesise: Callable[[Fleet], Path], tmp_path: Path
) -> None:
    files = []
    for name, zone, mount in (("Alpha", "usw2-az1", "/home"), ("Beta", "usw2-az4", "/efs")):
        files.append(tmp_path / f"{name}.yaml")
        files[-1].write_text(CLUSTER.format(name=name, zone=zone, mount=mount))

    folder = synthesise(load_fleet(files))

    made = of_type(folder / "HomeEfs.template.json", "AWS::EFS::MountTarget")
    assert len({json.dumps(each["SubnetId"]) for each in made}) == 2
    assert len({json.dumps(each["SecurityGroups"]) for each in made}) == 1
    for name, mount in (("Alpha", "/home"), ("Beta", "/efs")):
        [template] = of_type(folder / f"{name}.template.json", "AWS::EC2::LaunchTemplate")
        assert f'\\"mount\\": \\"{mount}\\"' in json.dumps(template).replace("\\\\", "\\")


def of_type(template: Path, resource_type: str) -> list[dict[str, Any]]:
    """Return the properties of a template's resources of a type."""
    resources = json.loads(template.read_text())["Resources"].values()
    return [each["Properties"] for each in resources if each["Type"] == resource_type]
